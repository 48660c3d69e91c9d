from __future__ import annotations

import pytest
import torch

from equipoise.evaluate import updates
from equipoise.evaluate.updates import update_scores
from tests.conftest import update

START = {"w": torch.tensor([1.0, 1.0]), "b": torch.tensor([0.0]), "bn.running_mean": torch.tensor([9.0])}


def moved(client: int, samples: int, *move: float):
    w, b = START["w"] + torch.tensor(move[:2]), START["b"] + torch.tensor(move[2:])
    return update(client, samples, {"w": w, "b": b, "bn.running_mean": torch.tensor([1e6])})


def test_norm_and_cosine_by_hand():
    scores = update_scores(START, [moved(0, 3, 3.0, 4.0, 0.0), moved(4, 1, 0.0, 0.0, 2.0)])
    # the mean move is ¾·(3, 4, 0) + ¼·(0, 0, 2) = (9/4, 3, ½), of length √(81/16 + 9 + ¼)
    length = (81 / 16 + 9 + 1 / 4) ** 0.5
    assert scores[0, "update/norm"] == pytest.approx(5)
    assert scores[4, "update/norm"] == pytest.approx(2)
    assert scores[0, "update/cosine"] == pytest.approx((3 * 9 / 4 + 4 * 3) / (5 * length))
    assert scores[4, "update/cosine"] == pytest.approx((2 * 1 / 2) / (2 * length))
    assert len(scores) == 4


def test_one_client_agrees_with_itself():
    scores = update_scores(START, [moved(2, 7, 1.0, -1.0, 0.5)])
    assert scores[2, "update/cosine"] == pytest.approx(1)


def test_a_client_that_did_not_move():
    scores = update_scores(START, [moved(0, 1, 0.0, 0.0, 0.0), moved(1, 1, 1.0, 0.0, 0.0)])
    assert scores[0, "update/norm"] == 0
    assert scores[0, "update/cosine"] == 0


def test_a_weight_that_is_looked_at_in_parts_gives_the_same(monkeypatch: pytest.MonkeyPatch):
    given = [moved(0, 3, 3.0, 4.0, 0.0), moved(4, 1, 0.0, 1.0, 2.0)]
    at_once = update_scores(START, given)
    monkeypatch.setattr(updates, "AT_ONCE", 2)  # one number of two clients at a time
    assert update_scores(START, given) == pytest.approx(at_once)


def test_a_branch_moves_as_far_as_its_root_mean_square():
    start = {"experts.text.out": torch.zeros(4), "backbone.norm": torch.zeros(2)}
    model = {"experts.text.out": torch.full((4,), 3.0), "backbone.norm": torch.tensor([2.0, 0.0])}
    # √(4·9/4) / √(4/2)
    assert update_scores(start, [update(1, 5, model)])[1, "branch/text/move"] == pytest.approx(3 / 2**0.5)
