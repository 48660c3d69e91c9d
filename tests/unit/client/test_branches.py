from __future__ import annotations

import pytest
import torch

from equipoise.client.branches import branch_gradients, branch_ratios


def test_a_ratio_is_of_root_mean_squares_so_that_sizes_do_not_matter() -> None:
    each = {
        "experts.visual.query": (10, 0.04),
        "experts.visual.key": (30, 0.04),
        "experts.text.query": (5, 4.0),
        "backbone.weight": (1000, 1.0),
        "items.weight": (7, 100.0),
    }  # how many numbers, and the square of each
    sums = {name: torch.tensor([size * square]) for name, (size, square) in each.items()}
    found = branch_ratios(sums, {name: size for name, (size, _) in each.items()})
    ratios = {name: float(ratio) for name, ratio in found.items()}
    assert ratios == pytest.approx({"visual": 0.2, "text": 2.0})


def test_a_model_without_branches_has_none() -> None:
    assert branch_ratios({"backbone.weight": torch.ones(1)}, {"backbone.weight": 3}) == {}
    assert branch_ratios({"experts.visual.query": torch.ones(1)}, {"experts.visual.query": 3}) == {}
    assert branch_ratios({}, {}) == {}


def test_gradients_of_clients_along_an_axis_are_kept_apart() -> None:
    leaves = {"experts.visual.query": torch.zeros(2, 3), "backbone.weight": torch.zeros(2, 4)}
    leaves["experts.visual.query"].grad = torch.tensor([[1.0] * 3, [3.0] * 3])
    leaves["backbone.weight"].grad = torch.ones(2, 4)
    assert branch_gradients(leaves, 2)["branch/visual/grad"].tolist() == [1.0, 3.0]
