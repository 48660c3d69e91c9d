from __future__ import annotations

from math import exp, log

import pytest
import torch

from equipoise.objective.rank import bpr_loss, masked_mean, sampled_loss


def test_sampled_losses_by_hand():
    positive, negative = torch.tensor([[2.0]]), torch.tensor([[[1.0, 0.0]]])
    assert sampled_loss(positive, negative).item() == pytest.approx(log(exp(1) + exp(2) + 1) - 2)
    assert bpr_loss(positive, negative).item() == pytest.approx((log(1 + exp(-1)) + log(1 + exp(-2))) / 2)


def test_equal_scores_cost_what_chance_costs():
    assert sampled_loss(torch.zeros(1, 1), torch.zeros(1, 1, 100)).item() == pytest.approx(log(101))
    assert bpr_loss(torch.zeros(1, 1), torch.zeros(1, 1, 7)).item() == pytest.approx(log(2))


def test_the_mean_is_over_what_exists():
    valid = torch.tensor([True, False, True])
    assert masked_mean(torch.tensor([1.0, 100.0, 3.0]), valid).item() == 2
    assert masked_mean(torch.ones(3), torch.zeros(3, dtype=torch.bool)).item() == 0
