from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from equipoise.objective.modalities import (
    ContrastOptions,
    contrast,
    instance_weights,
    load_balance,
    rivals_of,
    surprise,
)

ALL = torch.ones(4, dtype=torch.bool)
EVERYBODY = torch.ones(4, 4, dtype=torch.bool)


def pairs(seed: int = 0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(4, 5, generator=draw, requires_grad=True), torch.randn(4, 5, generator=draw)


def test_surprise_is_the_clients_own():
    level = torch.tensor([2.0, 0.5])
    assert surprise(torch.tensor([2.0, 2.5, 1.0]), level).tolist() == pytest.approx(
        [0.5, 1 / (1 + 2.718281828**-1), 1 / (1 + 2.718281828**2)], rel=1e-6
    )


def test_instance_weights_have_mean_one_over_what_exists():
    s, valid = torch.tensor([0.0, 1.0, 0.5, 0.9]), torch.tensor([True, True, True, False])
    weights = instance_weights(s, valid, 0.5)
    assert weights.tolist() == pytest.approx([1 / 1.25, 1.5 / 1.25, 1.25 / 1.25, 0])
    assert weights.sum().item() == pytest.approx(3)


def test_the_loss_is_the_weighted_mean_of_both_directions():
    visual, semantic = pairs()
    s = torch.tensor([0.1, 0.9, 0.4, 0.6])
    found = contrast(visual, semantic, s, EVERYBODY, ContrastOptions(0.07, 0.5))
    cosine = F.normalize(visual, dim=1) @ F.normalize(semantic, dim=1).T / 0.07
    each = 0.5 * (-cosine.log_softmax(1).diag() - cosine.log_softmax(0).diag())
    assert torch.allclose(found.each, each, atol=1e-5)
    assert found.loss.item() == pytest.approx((instance_weights(s, ALL, 0.5) * each).mean().item(), rel=1e-5)


def test_permuting_the_weights_changes_the_gradient():
    """And does not where the weights act after the mean: the failure kept by name."""
    s = torch.tensor([0.0, 0.2, 0.7, 1.0])
    for weighting, moves in (("instance", True), ("after-mean", False)):
        grads = []
        for order in (s, s.flip(0)):
            visual, semantic = pairs()
            contrast(visual, semantic, order, EVERYBODY, ContrastOptions(weighting=weighting)).loss.backward()
            grads.append(visual.grad)
        assert torch.allclose(*grads, atol=1e-6) != moves, weighting


def test_a_surprising_sample_pulls_harder_and_less_where_temperature_grows():
    """dℓ/d surprise of a sample whose pair is not nearest to it."""
    visual, semantic = torch.eye(4), torch.roll(torch.eye(4), 1, 0)
    for weighting, grows in (("instance", True), ("temperature", False)):
        how = ContrastOptions(weighting=weighting)
        shown = (torch.tensor([0.5, 0.5, 0.5, s]) for s in (0.5, 0.9))
        calm, startled = (contrast(visual, semantic, s, EVERYBODY, how) for s in shown)
        pull = [float(found.weights[3] * found.each[3]) for found in (calm, startled)]
        assert (pull[1] > pull[0]) == grows, weighting


def test_samples_that_do_not_exist_take_no_part():
    visual, semantic = pairs()
    valid = torch.tensor([True, True, False, True])
    s = torch.tensor([0.1, 0.9, 0.4, 0.6])
    found = contrast(visual, semantic, s, rivals_of(torch.arange(4), valid), ContrastOptions())
    kept = contrast(visual[valid], semantic[valid], s[valid], EVERYBODY[:3, :3], ContrastOptions())
    assert found.loss.item() == pytest.approx(kept.loss.item(), rel=1e-6)
    found.loss.backward()
    assert not visual.grad[2].any()
    assert torch.isfinite(visual.grad).all()


def test_an_item_that_is_met_twice_is_no_rival_of_itself():
    """Outputs that agree as well as they can cost nothing, also where two of them are of one item."""
    targets, aligned = torch.tensor([5, 7, 9, 9]), torch.eye(3)[[0, 1, 2, 2]]
    assert rivals_of(targets, ALL).sum(1).tolist() == [4, 4, 3, 3]
    found = contrast(aligned, aligned, torch.zeros(4), rivals_of(targets, ALL), ContrastOptions())
    assert found.each.tolist() == pytest.approx([0, 0, 0, 0], abs=1e-5)
    rivals = rivals_of(targets, torch.tensor([True, False, True, True]))
    assert not rivals[1].any()
    assert not rivals[:, 1].any()


def test_the_load_is_balanced_where_experts_are_used_alike():
    assert load_balance(torch.tensor([[0.9, 0.1], [0.1, 0.9]]), ALL[:2]).item() == pytest.approx(0, abs=1e-12)
    assert load_balance(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), ALL[:2]).item() == pytest.approx(0.5)
