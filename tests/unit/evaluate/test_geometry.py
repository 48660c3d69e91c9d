from __future__ import annotations

from math import sqrt

import pytest
import torch

from equipoise.evaluate.geometry import prototype_scores
from equipoise.server.predict import Merged
from tests.conftest import update

ANCHORS = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
FIRST = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
SECOND = torch.tensor([[-1.0, 0.0], [0.0, 0.5]])


def client(number: int, prototypes: torch.Tensor):
    return update(number, 1, {"head.prototypes": prototypes, "head.anchors": ANCHORS})


MERGED = {"head.prototypes": torch.tensor([[1.0, 2.0], [3.0, 1.0]]), "head.anchors": ANCHORS}
SCORES = prototype_scores(Merged(MERGED, [client(2, FIRST), client(5, SECOND)]))


def test_lengths_and_their_ratio():
    assert SCORES[2, "proto/norm"] == pytest.approx((5 + 2) / 2)
    assert SCORES[5, "proto/norm"] == pytest.approx((1 + 0.5) / 2)
    assert SCORES[None, "proto/norm_ratio"] == pytest.approx(3.5 / 0.75)


def test_cosines_with_the_anchors():
    assert SCORES[2, "proto/anchor_cosine"] == pytest.approx((3 / 5 + 1) / 2)
    assert SCORES[5, "proto/anchor_cosine"] == pytest.approx((-1 + 1) / 2)


def test_the_spread_between_clients():
    # class 0: (0.6, 0.8) and (−1, 0) lie (±0.8, ±0.4) from their mean; class 1: the same direction twice
    assert SCORES[None, "proto/spread"] == pytest.approx((sqrt(0.8**2 + 0.4**2) + 0) / 2)


def test_the_deviation_of_the_merged_prototypes_from_the_anchors():
    assert SCORES[None, "proto/anchor_deviation"] == pytest.approx((2 + 3) / 2)


def test_that_is_all_there_is():
    names = {(None, name) for name in ("proto/spread", "proto/norm_ratio", "proto/anchor_deviation")}
    assert SCORES.keys() == names | {(k, f"proto/{what}") for k in (2, 5) for what in ("norm", "anchor_cosine")}


def test_the_order_of_the_clients_does_not_matter():
    assert prototype_scores(Merged(MERGED, [client(5, SECOND), client(2, FIRST)])) == SCORES


def test_longer_prototypes_are_not_taken_for_disagreement():
    longer = prototype_scores(Merged(MERGED, [client(2, 100 * FIRST), client(5, SECOND)]))
    assert longer[None, "proto/spread"] == pytest.approx(SCORES[None, "proto/spread"])
    assert longer[None, "proto/norm_ratio"] == pytest.approx(350 / 0.75)


def test_one_client_agrees_with_itself():
    alone = prototype_scores(Merged(MERGED, [client(0, FIRST)]))
    assert (alone[None, "proto/spread"], alone[None, "proto/norm_ratio"]) == (0, 1)


def test_a_model_without_prototypes_has_none():
    assert prototype_scores(Merged({"head.weight": torch.ones(2, 2)}, [update(0, 1, {})])) == {}
