from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from equipoise.evaluate.blend import WEIGHTS, Blend, chosen_weight, mixed, standardised
from equipoise.evaluate.recommender import UserPositions
from equipoise.evaluate.targets import Target
from equipoise.server.predict import Merged

GOOD = torch.tensor([[5.0, 1, 0, 0], [0, 5, 1, 0], [1, 0, 5, 0]])
"""The targets 0, 1, 2 first."""
BAD = -GOOD
MERGED = Merged({}, ())


def targets(*items: int) -> Target:
    n = len(items)
    positions = UserPositions(np.arange(n), np.zeros(n, dtype=np.int64))
    return Target(positions, np.array(items), np.zeros((n, 4), dtype=bool), None)


@dataclass
class Fixed:
    scores: Tensor
    asked: int = 0

    def user_scores(self, merged, own, positions) -> Tensor:
        self.asked += 1
        return self.scores[positions.users]


def test_standardised_by_hand():
    z = standardised(torch.tensor([[1.0, 3.0], [4.0, 4.0]]))
    assert z.tolist() == [[-1, 1], [0, 0]], "scores that are all equal say nothing"


def test_the_unit_of_scores_does_not_matter():
    assert torch.allclose(standardised(GOOD), standardised(1000 * GOOD + 7), atol=1e-5)


def test_the_better_scorer_gets_the_weight():
    target, good, bad = targets(0, 1, 2), standardised(GOOD), standardised(BAD)
    assert chosen_weight(good, bad, target).weight < 0.5
    assert chosen_weight(bad, good, target).weight > 0.5
    assert chosen_weight(good, bad, target).quality == 1.0


def test_of_equal_weights_the_middle_one_is_taken():
    good = standardised(GOOD)
    assert chosen_weight(good, good, targets(0, 1, 2)).weight == 0.5


def test_every_weight_is_tried():
    first = standardised(torch.tensor([[0.0, 1.0, 0.0, 0.0]]))
    second = standardised(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    target = targets(0)
    best = max(1 / np.log2(1 + _rank(mixed(first, second, w)[0])) for w in WEIGHTS)
    assert chosen_weight(first, second, target).quality == pytest.approx(best)
    assert chosen_weight(first, second, target).weight == 0.6, "the nearest to the middle that puts the target first"


def _rank(scores: Tensor) -> float:
    return 1 + float((scores > scores[0]).sum()) + 0.5 * (float((scores == scores[0]).sum()) - 1)


def test_a_blend_ranks_by_both_with_the_weight_of_validation():
    first, second = Fixed(BAD), Fixed(GOOD)
    blend = Blend("second", first, second, lambda: targets(0, 1, 2))
    found = blend.user_scores(MERGED, {}, UserPositions(np.array([2]), np.array([0])))
    weight = blend.numbers(MERGED, {})["blend/second"]
    assert weight > 0.5
    assert torch.equal(found, mixed(standardised(BAD[2:]), standardised(GOOD[2:]), weight))
    assert blend.numbers(MERGED, {})["blend/second/validation"] == 1.0


def test_the_weight_is_chosen_once_for_a_state_and_anew_for_another():
    first = Fixed(BAD)
    blend = Blend("second", first, Fixed(GOOD), lambda: targets(0, 1, 2))
    blend.choice(MERGED, {})
    blend.choice(MERGED, {})
    assert first.asked == 1
    blend.choice(Merged({"w": torch.zeros(1)}, ()), {})
    assert first.asked == 2


def test_blends_inside_a_blend_tell_their_weights_too():
    target = targets(0, 1, 2)
    inner = Blend("inner", Fixed(BAD), Fixed(GOOD), lambda: target)
    outer = Blend("outer", Fixed(BAD), inner, lambda: target)
    assert outer.numbers(MERGED, {}).keys() == {
        "blend/outer", "blend/outer/validation", "blend/inner", "blend/inner/validation",
    }  # fmt: skip
