from __future__ import annotations

import pytest
import torch

from equipoise.core.registry import METHODS
from equipoise.run.build import build
from tests.conftest import assert_same, numbers, one_shot, records, tiny

CONFIG = tiny("method=fedproto", "rounds=3")
K, C, D = 3, 10, 16


@pytest.fixture(scope="module")
def run():
    return records(CONFIG)


@pytest.fixture(scope="module")
def found(run):
    return numbers(run)


def model_size() -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in build(CONFIG).start.values())


def test_class_means_go_down_and_no_model_after_the_start(found):
    means = (C * D + C) * 4
    assert [found[step, None, "bytes/down"] for step in range(3)] == [K * model_size(), K * means, K * means]


def test_sums_come_up_every_round_and_encoders_once_at_the_end(found):
    report = (C * D + C) * 4
    assert [found[step, None, "bytes/up"] for step in range(3)] == [K * report, K * report, K * (report + model_size())]


def test_there_is_nothing_to_align_to_before_the_first_means_came_down(found):
    for client in range(K):
        assert found[0, client, "loss/align"] == 0
        assert found[1, client, "loss/align"] > 0
        assert found[2, client, "lam/used"] == 1


def test_every_client_goes_on_with_its_own_model(run):
    models = [own.model for own in run[-1].snapshot.own.values()]
    assert len(models) == K
    assert not torch.equal(models[0]["head.weight"], models[1]["head.weight"])
    assert_same(run[-1].snapshot.server.model, build(CONFIG).start)


def test_the_means_that_go_down_are_those_of_all_images(run):
    broadcast = run[-1].snapshot.broadcast
    report = [own.report for own in run[-1].snapshot.own.values()]
    counts = sum(one["counts"] for one in report)
    assert (
        broadcast["means.counts"].tolist() == counts.tolist() == sum(map(build(CONFIG).site.counts, range(K))).tolist()
    )
    assert torch.allclose(
        broadcast["means.features"], sum(one["sums"] for one in report) / counts.clamp_min(1)[:, None]
    )


def test_nearest_mean_is_the_headline(found):
    assert found[2, None, "accuracy/merged"] == found[2, None, "accuracy/merged/nearest-mean"]


def test_with_one_shot_communication_no_mean_goes_down_and_align_is_zero():
    found = numbers(records(one_shot("method=fedproto")))
    assert found[1, None, "bytes/down"] == 0
    assert {value for (_, _, name), value in found.items() if name == "loss/align"} == {0}


def test_without_weight_clients_train_as_if_alone():
    ours = records(tiny("method=fedproto", "method.lam=0"))[-1].snapshot.own
    alone = records(tiny("method=local-only"))[-1].snapshot.own
    for client, own in ours.items():
        assert_same(own.model, alone[client].model)


def test_the_weight_is_one_unless_told_otherwise():
    assert METHODS.find("fedproto").options().lam == 1
