from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch
from torch import Tensor

from equipoise.config.choices import LossKind
from equipoise.core.values import Losses, Moment, State
from equipoise.models.windows import Ranked, Windows
from equipoise.objective.compose import Net
from equipoise.objective.modalities import ContrastOptions
from equipoise.objective.recommend import inputs_until, per_position, recommend

V = 6


def report(items: list[int], targets: list[int], met: list[int]) -> Windows:
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
    windows = report([2, 3, 4], [3, 4, 5], met=[0, 1])
    losses, hits = per_position(level_scores(torch.zeros(1, V)), windows, "unmet")
    assert losses[0].tolist() == pytest.approx([log(3), log(2), 0.0], abs=1e-6)
    assert hits.tolist() == [[1, 1, 1]]
    everywhere, _ = per_position(level_scores(torch.zeros(1, V)), windows, "softmax")
    assert everywhere[0].tolist() == pytest.approx([log(6)] * 3)


@pytest.mark.parametrize("shape", [(1, V), (1, 3, V)])
def test_what_was_met_has_no_gradient(shape: tuple[int, ...]):
    offset = torch.zeros(shape, requires_grad=True)
    windows = report([2, 3, 4], [3, 4, 5], met=[0, 1])
    per_position(level_scores(offset), windows, "unmet")[0].sum().backward()
    by_item = offset.grad.reshape(-1, V).sum(0)
    assert by_item[:3].tolist() == [0, 0, 0]
    assert by_item.sum().item() == pytest.approx(0, abs=1e-6)
    assert by_item[5].item() == pytest.approx(1 / 3 + 1 / 2 + 1 - 1)


@pytest.mark.parametrize("shape", [(1, V), (1, 3, V)])
def test_a_target_that_was_met_before_is_compared_like_any_other(shape: tuple[int, ...]):
    """Items 0 and 1 before the window, then 2, 0, 3, of which 0 is a target once more: it is no rival of the others."""
    offset = torch.zeros(shape, requires_grad=True)
    losses, hits = per_position(level_scores(offset), report([2, 0, 3], [0, 3, 0], met=[0, 1]), "unmet")
    assert losses[0].tolist() == pytest.approx([log(4), log(3), log(3)], abs=1e-6)
    assert hits.tolist() == [[1, 1, 1]]
    losses.sum().backward()
    by_item = offset.grad.reshape(-1, V).sum(0)
    assert by_item[0].item() == pytest.approx(1 / 4 - 1 + 1 / 3 - 1)
    assert by_item[1].item() == 0


def test_padding_meets_nobody_again_and_costs_something_finite():
    """Item 0, which fills the window, was met; the target that exists has rivals 1, 3, 4 and 5 all the same."""
    windows = report([2, 3, 0], [3, 0, 0], met=[0])._replace(valid=torch.tensor([[True, False, False]]))
    losses, _ = per_position(level_scores(torch.zeros(1, V)), windows, "unmet")
    assert torch.isfinite(losses).all()
    assert losses[0, 0].item() == pytest.approx(log(4))


@pytest.mark.parametrize("kind", ["sampled", "bpr"])
def test_places_that_hold_no_negative_count_for_nobody(kind: LossKind):
    ranked = Ranked(torch.ones(1, 3, 1), torch.arange(V).float()[:, None].requires_grad_(), torch.zeros(1, V))
    windows = report([2, 3, 4], [3, 4, 5], met=[])
    (some, first), (alone, _) = (
        per_position(ranked, windows._replace(negatives=torch.tensor(drawn)), kind)
        for drawn in ([1, 2, -1, -1], [1, 2])
    )
    assert some[0].tolist() == pytest.approx(alone[0].tolist(), abs=2e-6)  # float32 sums of as much as 5, in two orders
    assert first.tolist() == [[1, 1, 1]]
    some.sum().backward()
    assert ranked.table.grad[0].item() == 0
    assert torch.isfinite(ranked.table.grad).all()


def test_inputs_until_never_look_ahead():
    assert inputs_until(torch.tensor([[7, 8, 9]]))[0].tolist() == [[7, 7, 7], [7, 8, 7], [7, 8, 9]]


VISUAL = torch.tensor([[[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]])
TEXT = torch.tensor([[[0.8, 0.6], [1.0, 0.0], [0.6, 0.8]]])
USED = torch.tensor([[[0.9, 0.1], [0.5, 0.5], [0.7, 0.3]]])
LEVEL = torch.tensor([1.0, 0.5])
NOW = Moment(0.0, np.zeros(1, dtype=np.int64))


def two_experts(offset: Tensor, visual: Tensor = VISUAL) -> Ranked:
    """Scores are the offset alone, so that the recommendation's loss and the contrast share no weight."""
    return Ranked(torch.zeros(1, 3, 1), torch.zeros(V, 1), offset, (visual, TEXT), USED, USED)


def told_losses(ranked: Ranked, windows: Windows, how: ContrastOptions | None, load: float = 0.0) -> Losses:
    return recommend(how, load, "softmax")(Net(lambda *_: ranked, {}), windows, {}, NOW)


def by_hand(each: Tensor, level: Tensor, alpha: float = 0.5, tau: float = 0.07) -> float:
    """mean_i w_i·½(ℓ_i^{v→s} + ℓ_i^{s→v}), w_i = (1 + α·s_i)/mean(1 + α·s), s_i = σ((r_i − m)/d), term by term."""
    surprised = [1 / (1 + exp(-(float(r) - float(level[0])) / float(level[1]))) for r in each]
    raw = [1 + alpha * s for s in surprised]
    weights = [w / (sum(raw) / 3) for w in raw]
    cosine = (VISUAL[0] @ TEXT[0].T).tolist()
    total = 0.0
    for i in range(3):
        to_text = log(sum(exp(cosine[i][j] / tau) for j in range(3))) - cosine[i][i] / tau
        to_visual = log(sum(exp(cosine[j][i] / tau) for j in range(3))) - cosine[i][i] / tau
        total += weights[i] * (to_text + to_visual) / 2
    return total / 3


@pytest.mark.parametrize("level", [LEVEL, torch.tensor([3.0, 0.2])])
def test_the_objective_is_its_formula(level: Tensor):
    """base = rec + w_lb·Σ(usage − ½)², align = the contrast under weights by the client's own surprise."""
    offset = torch.tensor([[0.0, 1.0, 2.0, 0.5, 3.0, -1.0]])
    windows = report([2, 3, 4], [3, 4, 5], met=[])._replace(level=level)
    found = told_losses(two_experts(offset), windows, ContrastOptions(), load=0.01)
    each = torch.logsumexp(offset[0], 0) - offset[0, 3:]
    usage = 0.7  # the mean of 0.9, 0.5 and 0.7
    assert found.parts["rec"].item() == pytest.approx(each.mean().item())
    assert found.parts["lb"].item() == pytest.approx(0.01 * 2 * (usage - 0.5) ** 2)
    assert found.base.item() == pytest.approx(each.mean().item() + 0.01 * 2 * (usage - 0.5) ** 2)
    assert found.align.item() == pytest.approx(by_hand(each, level), rel=1e-5)
    assert found.memory["loss"][0].tolist() == pytest.approx(each.tolist())


def test_surprise_weighs_samples_in_the_gradient_of_the_contrast():
    """The same costs in another order: other samples pull. 3.1 and 4.6 lie on either side of the usual 3.8."""
    windows = report([2, 3, 4], [3, 4, 5], met=[])._replace(level=torch.tensor([3.8, 0.5]))
    pulls = []
    for costs in ([0.5, 3.0, -1.0], [-1.0, 3.0, 0.5]):
        visual = VISUAL.clone().requires_grad_()
        offset = torch.tensor([[0.0, 1.0, 2.0, *costs]])
        told_losses(two_experts(offset, visual), windows, ContrastOptions()).align.backward()
        pulls.append(visual.grad.norm(dim=-1)[0])
    assert pulls[0][2] > 1.1 * pulls[1][2], "the third is surprising in the first order alone"
    assert pulls[1][0] > 1.1 * pulls[0][0]


def test_the_contrast_does_not_move_the_recommendation_through_its_weights():
    offset = torch.tensor([[0.0, 1.0, 2.0, 0.5, 3.0, -1.0]], requires_grad=True)
    windows = report([2, 3, 4], [3, 4, 5], met=[])._replace(level=LEVEL)
    found = told_losses(two_experts(offset, VISUAL.clone().requires_grad_()), windows, ContrastOptions())
    assert torch.autograd.grad(found.align, offset, allow_unused=True, retain_graph=True) == (None,)
    assert torch.autograd.grad(found.base, offset)[0].abs().sum() > 0


def test_a_first_step_is_judged_by_its_own_losses():
    offset = torch.tensor([[0.0, 1.0, 2.0, 0.5, 3.0, -1.0]])
    found = told_losses(two_experts(offset), report([2, 3, 4], [3, 4, 5], met=[]), ContrastOptions())
    each = torch.logsumexp(offset[0], 0) - offset[0, 3:]
    level = torch.stack([each.mean(), each.std(correction=0)])
    assert found.align.item() == pytest.approx(by_hand(each, level), rel=1e-5)


def test_the_network_is_shown_the_rows_of_the_global_memory_and_nothing_else():
    shown = []

    def forward(_: Windows, common: State) -> Ranked:
        shown.append(common)
        return level_scores(torch.zeros(1, V))

    rows, windows = torch.ones(4, 2), report([2, 3, 4], [3, 4, 5], met=[])
    recommend()(Net(forward, {}), windows, {"common.visual": rows, "items.weight": rows}, NOW)
    assert list(shown[0]) == ["visual"]
    assert shown[0]["visual"] is rows
