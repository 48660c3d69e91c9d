from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.clock import Clock
from equipoise.core.errors import ClientError, ConfigError, DataError
from equipoise.core.registry import METHODS
from equipoise.core.values import ClientFailure
from equipoise.engine import engine
from equipoise.engine.node import Node
from equipoise.method.resolve import resolve
from equipoise.models.heads import PROTOTYPES
from equipoise.server.merge import ServerState
from tests.conftest import assert_same_update, for_images, needs, one_shot, tiny, untouched_rng, update

from .conftest import BAD_CLIENT, a_site, tasks_of


def test_one_channel_is_repeated_to_three():
    assert a_site().train.pixels.shape[1:] == (1, 8, 8)
    assert a_site().shape == (3, 8, 8)


def test_the_clock_counts_the_epochs_of_the_whole_run():
    assert tiny("rounds=5", "client.epochs=3").clock == Clock(5, 15)
    assert one_shot(epochs=6, checkpoints=2).clock == Clock(2, 6)


@pytest.mark.parametrize("name", for_images(METHODS))
def test_the_method_of_a_configuration(name):
    method = resolve(tiny(f"method={name}", *needs(name)))
    assert method.headline.startswith("accuracy/")
    assert method.balance is not None
    assert method.merge is not None


def test_work_is_the_same_whoever_worked_before(expected):
    site = a_site()
    work = Node(site).work
    for task, other in zip(reversed(tasks_of(site)), reversed(expected), strict=True):
        assert_same_update(work([task])[0], other)


def test_a_fifth_client_changes_nobody(expected):
    site = a_site(n_clients=5)
    for task, other in zip(tasks_of(site), expected, strict=True):
        assert_same_update(Node(site).work([task])[0], other)


def test_work_leaves_the_global_generators_alone():
    site = a_site()
    with untouched_rng():
        Node(site).work(tasks_of(site)[:1])


def test_a_client_whose_numbers_are_not_finite_fails_alone():
    site = a_site("client.lr=1e30")
    (result,) = Node(site).work(tasks_of(site)[1:2])
    assert isinstance(result, ClientFailure)
    assert (result.client, result.kind) == (1, "non-finite")
    assert "at local step 1" in result.error
    assert "checkpoint 1, client 1" in result.error


def test_any_other_failure_says_which_client_and_why():
    site = a_site()
    with pytest.raises(ClientError, match=r"client 3 failed: \w+Error: .*99") as caught:
        Node(site).work(tasks_of(site, [BAD_CLIENT]))
    assert caught.value.where == "checkpoint 1, client 3, 20 samples"
    assert caught.value.__cause__ is not None


def test_an_error_of_ours_stays_what_it_is(monkeypatch):
    def refuse(*_):
        raise DataError("no such thing", fix="look elsewhere")

    monkeypatch.setattr(engine, "train", refuse)
    site = a_site()
    with pytest.raises(DataError, match="no such thing"):
        Node(site).work(tasks_of(site)[:1])


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "fafi"])
def test_a_policy_for_a_method_that_chooses_lam_itself_is_refused(name):
    with pytest.raises(ConfigError, match=f"method '{name}' chooses λ itself; 'annealed' would do nothing") as caught:
        resolve(tiny(f"method={name}", "balance=v7"))
    assert "set balance=none, or method=etf-align" in str(caught.value)
    assert resolve(tiny(f"method={name}", "balance=v4")).balance is not None  # nobody's policy


def test_a_method_that_leaves_lam_open_takes_the_configurations_policy():
    method = resolve(tiny("method=etf-align", "balance=decoupled", "balance.sigma.lr=0.25"))
    assert method.balance is not None
    assert method.balance.learning is not None
    assert method.balance.learning.lr == 0.25


def test_prototypes_are_merged_and_predict_as_the_server_block_says():
    ones, twos = ({PROTOTYPES: torch.tensor([[length, 0.0]])} for length in (1.0, 3.0))
    updates = [replace(update(k, 10, state), counts=[10]) for k, state in enumerate((ones, twos))]
    for kind, length in ((None, 2.0), ("plain", 2.0), ("unit", 1.0), ("counts", 2.0)):
        method = resolve(tiny("method=fafi", *([f"server.merge={kind}"] if kind else [])))
        assert method.merge is not None
        assert method.merge(ServerState({}), updates).model[PROTOTYPES].tolist() == [[length, 0.0]]
    assert resolve(tiny("method=fafi")).predict == "feature-average"
    assert resolve(tiny("method=fafi", "server.predict=iffi")).predict == "iffi"
    assert resolve(tiny("server.predict=energy-gate")).predict == "energy-gate"


@pytest.mark.parametrize(
    ("overrides", "key", "message"),
    [
        (("server.merge=unit",), "server.merge", "method 'fedavg' has no prototypes to merge"),
        (("server.predict=anchors",), "server.predict", "'anchors' needs prototypes, which method 'fedavg' has not"),
        (("server.predict=nearest-mean",), "server.predict", "'nearest-mean' needs class means"),
        (("method=local-only", "server.predict=common"), "server.predict", "'local-only' merges nothing that could"),
        (("method=two-stage",), "data.public", "method 'two-stage' needs a public pool: set data.public=0.1"),
        (("method=public-bank",), "data.public", "method 'public-bank' needs a public pool"),
    ],
)
def test_what_a_method_does_not_leave_open_is_refused(overrides, key, message):
    with pytest.raises(ConfigError) as caught:
        resolve(tiny(*overrides))
    ((at, said),) = caught.value.problems
    assert at == key
    assert message in said


def test_all_that_is_refused_is_listed_together():
    with pytest.raises(ConfigError) as caught:
        resolve(tiny("balance=v7", "server.merge=unit", "server.predict=iffi"))
    assert {problem.path for problem in caught.value.problems} == {"balance", "server.merge", "server.predict"}


def test_the_label_counts_of_a_client_include_classes_it_does_not_have():
    site = a_site()
    for client, index in enumerate(site.indices):
        if client == BAD_CLIENT:
            continue
        counts = site.counts(client)
        assert len(counts) == site.n_classes
        assert counts.sum() == len(index)
        assert all(counts[c] == (site.train.labels[index] == c).sum() for c in range(site.n_classes))
