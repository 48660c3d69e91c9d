from __future__ import annotations

import pytest
import torch

from equipoise.core.registry import METHODS
from tests.conftest import assert_same, assert_same_own, numbers, one_shot, records, tiny

TWO_VIEWS = ("client.augment=two-view", "client.batch=16")
BANK = ("method=memory-bank", "method.size=40", *TWO_VIEWS)


def test_its_memory_holds_1024_features_unless_told_otherwise():
    assert METHODS.find("memory-bank").options().size == 1024


def test_in_the_first_step_there_is_nothing_to_remember():
    whole = ("client.augment=two-view", "client.batch=200")  # an epoch is one step
    ours, theirs = (
        numbers(records(one_shot(f"method={name}", *whole, epochs=1, checkpoints=1)))
        for name in ("memory-bank", "fafi")
    )
    assert ours == theirs


def test_later_the_contrast_sees_more_negatives():
    ours, theirs = (
        numbers(records(one_shot(f"method={method}", *TWO_VIEWS, epochs=1, checkpoints=1)))
        for method in ("memory-bank", "fafi")
    )
    for client in range(3):
        assert ours[0, client, "loss/con"] > theirs[0, client, "loss/con"]


@pytest.fixture(scope="module")
def once():
    """The run with a single checkpoint."""
    return records(one_shot(*BANK, epochs=4, checkpoints=1))


def test_memory_travels_with_the_client_so_checkpoints_change_no_number(once):
    often = records(one_shot(*BANK, epochs=4, checkpoints=4))
    for client, own in once[-1].snapshot.own.items():
        assert_same_own(own, often[-1].snapshot.own[client])
    assert_same(once[-1].snapshot.server.model, often[-1].snapshot.server.model)
    ours, theirs = (
        {row.name: row.value for row in run[-1].rows if row.client is None and row.name != "bytes/down"}
        for run in (once, often)
    )
    assert ours == theirs


def test_a_client_remembers_its_own_classes_and_no_more_than_its_size(once, federation_of):
    site = federation_of(one_shot(*BANK, epochs=4, checkpoints=1)).site
    for client, own in once[-1].snapshot.own.items():
        assert own.memory.keys() == {"memory.features", "memory.labels"}
        labels = own.memory["memory.labels"]
        assert len(labels) == len(own.memory["memory.features"]) == min(40, 4 * int(site.counts(client).sum()))
        assert set(labels.tolist()) <= set(site.counts(client).nonzero()[0].tolist())
        assert torch.allclose(own.memory["memory.features"].norm(dim=1), torch.ones(len(labels)), atol=1e-5)


def test_in_rounds_the_model_comes_from_the_server_and_the_memory_stays():
    first, second = records(tiny(*BANK, "rounds=2"))
    for record in (first, second):
        for own in record.snapshot.own.values():
            assert own.model == {}
            assert own.memory.keys() == {"memory.features", "memory.labels"}
    assert {row.name for row in second.rows} >= {"loss/con", "bytes/down"}


def test_what_is_remembered_is_not_sent():
    ours, theirs = (
        numbers(records(tiny(f"method={name}", *TWO_VIEWS, "rounds=2", "evaluate.beside=never")))
        for name in ("memory-bank", "fafi")
    )
    for step in (0, 1):
        for name in ("bytes/down", "bytes/up"):
            assert ours[step, None, name] == theirs[step, None, name]
