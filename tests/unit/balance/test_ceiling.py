"""A ceiling on a learned λ: what training uses is never above it, and below it nothing changes."""

from __future__ import annotations

import math

import pytest
import torch

from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, Moment

LEARNED = ["uncertainty", "uncertainty-annealed", "decoupled", "decoupled-floor", "decoupled-hinge"]


def weighed(name: str, lam: float, ceiling: float | None):
    entry = BALANCES.find(name)
    balance = entry.make(entry.options(name=name, ceiling=ceiling))
    policy = {"a": torch.tensor(math.log(lam), requires_grad=True), "b": torch.tensor(0.0, requires_grad=True)}
    losses = Losses(torch.tensor(2.0), torch.tensor(0.5), {}, torch.tensor(0.0))
    return balance.weigh(losses, policy, Moment(0.0, torch.ones(2).long().numpy()))


@pytest.mark.parametrize("name", LEARNED)
def test_lambda_is_never_above_its_ceiling(name: str) -> None:
    found = weighed(name, 40.0, 5.0)
    assert found.lam == 5.0
    assert found.network.item() == pytest.approx(float(found.scale * (2.0 + found.used * 0.5)), rel=1e-6)
    assert found.used <= 5.0


@pytest.mark.parametrize("name", LEARNED)
def test_below_its_ceiling_nothing_changes(name: str) -> None:
    assert weighed(name, 4.0, 5.0).network.item() == weighed(name, 4.0, None).network.item()
