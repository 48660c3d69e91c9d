"""What every policy promises: the numbers it records are the numbers it used."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.balance.policy import no_parameters
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, Moment

COUNTS = np.array([5, 1, 0])


@pytest.mark.parametrize("progress", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("name", BALANCES.names())
def test_the_gradient_is_scale_times_base_plus_used_times_align(name, progress):
    entry = BALANCES.find(name)
    policy = entry.make(entry.options())
    w = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
    base, align = w.square().sum(), (3 * w).sum() + w[0] * w[1]
    weighed = policy.weigh(Losses(base, align, {}, torch.tensor(0.0)), policy.start(COUNTS), Moment(progress, COUNTS))
    (of_base,) = torch.autograd.grad(base, w, retain_graph=True)
    (of_align,) = torch.autograd.grad(align, w, retain_graph=True)
    (of_network,) = torch.autograd.grad(weighed.network, w)
    assert torch.allclose(of_network, weighed.scale * (of_base + weighed.used * of_align), rtol=1e-12)
    assert weighed.lam >= 0


def test_no_parameters():
    assert no_parameters(COUNTS) == {}
