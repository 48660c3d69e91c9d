from __future__ import annotations

from math import log

import pytest
import torch
from torch import Tensor

from equipoise.models.windows import Ranked, Windows
from equipoise.objective.rank import LossKind
from equipoise.objective.recommend import inputs_until, per_position

V = 6


def told(items: list[int], targets: list[int], met: list[int]) -> Windows:
    """One window; `met` before its first input."""
    blank, never = torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 1, dtype=torch.bool)
    before, none = torch.zeros(1, V, dtype=torch.bool), torch.empty(0, dtype=torch.int64)
    before[0, met] = True
    x, y = torch.tensor([items]), torch.tensor([targets])
    there = torch.ones_like(x, dtype=torch.bool)
    return Windows(x, y, there, blank, never, blank, never, torch.zeros(2), torch.empty(0), none, before, none)


def level_scores(offset: Tensor) -> Ranked:
    return Ranked(torch.zeros(1, 3, 1), torch.zeros(V, 1), offset)


def test_a_target_is_compared_with_items_not_met_before_it():
    """Items 0 and 1 before the window, then 2, 3, 4: each position has one rival fewer."""
    windows = told([2, 3, 4], [3, 4, 5], met=[0, 1])
    losses, hits = per_position(level_scores(torch.zeros(1, V)), windows, "unmet")
    assert losses[0].tolist() == pytest.approx([log(3), log(2), 0.0], abs=1e-6)
    assert hits.tolist() == [[1, 1, 1]]
    everywhere, _ = per_position(level_scores(torch.zeros(1, V)), windows, "softmax")
    assert everywhere[0].tolist() == pytest.approx([log(6)] * 3)


@pytest.mark.parametrize("shape", [(1, V), (1, 3, V)])
def test_what_was_met_has_no_gradient(shape: tuple[int, ...]):
    offset = torch.zeros(shape, requires_grad=True)
    windows = told([2, 3, 4], [3, 4, 5], met=[0, 1])
    per_position(level_scores(offset), windows, "unmet")[0].sum().backward()
    by_item = offset.grad.reshape(-1, V).sum(0)
    assert by_item[:3].tolist() == [0, 0, 0]
    assert by_item.sum().item() == pytest.approx(0, abs=1e-6)
    assert by_item[5].item() == pytest.approx(1 / 3 + 1 / 2 + 1 - 1)


@pytest.mark.parametrize("shape", [(1, V), (1, 3, V)])
def test_a_target_that_was_met_before_is_compared_like_any_other(shape: tuple[int, ...]):
    """Items 0 and 1 before the window, then 2, 0, 3, of which 0 is a target once more: it is no rival of the others."""
    offset = torch.zeros(shape, requires_grad=True)
    losses, hits = per_position(level_scores(offset), told([2, 0, 3], [0, 3, 0], met=[0, 1]), "unmet")
    assert losses[0].tolist() == pytest.approx([log(4), log(3), log(3)], abs=1e-6)
    assert hits.tolist() == [[1, 1, 1]]
    losses.sum().backward()
    by_item = offset.grad.reshape(-1, V).sum(0)
    assert by_item[0].item() == pytest.approx(1 / 4 - 1 + 1 / 3 - 1)
    assert by_item[1].item() == 0


def test_padding_meets_nobody_again_and_costs_something_finite():
    """Item 0, which fills the window, was met; the target that exists has rivals 1, 3, 4 and 5 all the same."""
    windows = told([2, 3, 0], [3, 0, 0], met=[0])._replace(valid=torch.tensor([[True, False, False]]))
    losses, _ = per_position(level_scores(torch.zeros(1, V)), windows, "unmet")
    assert torch.isfinite(losses).all()
    assert losses[0, 0].item() == pytest.approx(log(4))


@pytest.mark.parametrize("kind", ["sampled", "bpr"])
def test_places_that_hold_no_negative_count_for_nobody(kind: LossKind):
    ranked = Ranked(torch.ones(1, 3, 1), torch.arange(V).float()[:, None].requires_grad_(), torch.zeros(1, V))
    windows = told([2, 3, 4], [3, 4, 5], met=[])
    (some, first), (alone, _) = (
        per_position(ranked, windows._replace(negatives=torch.tensor(drawn)), kind)
        for drawn in ([1, 2, -1, -1], [1, 2])
    )
    assert some.tolist() == alone.tolist()
    assert first.tolist() == [[1, 1, 1]]
    some.sum().backward()
    assert ranked.table.grad[0].item() == 0
    assert torch.isfinite(ranked.table.grad).all()


def test_inputs_until_never_look_ahead():
    assert inputs_until(torch.tensor([[7, 8, 9]]))[0].tolist() == [[7, 7, 7], [7, 8, 7], [7, 8, 9]]
