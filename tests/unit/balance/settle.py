"""Frozen losses, and a learned policy's own update run on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from equipoise.balance.policy import Balance
from equipoise.client.policy import gradients, leaves, stepped
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, Moment, Weighed

COUNTS = np.array([5, 1, 0])
Curve = Callable[[float], float]
"""Share of the steps done → a loss, or the progress of the run."""


def frozen(base: float, align: float) -> Losses:
    return Losses(torch.tensor(base), torch.tensor(align), {}, torch.tensor(0.0))


def policy_of(name: str, **options: object) -> Balance:
    """The policy of that name, whose σ learn faster than in a run; other settings as given."""
    entry = BALANCES.find(name)
    sigma = {"lr": 0.05, "momentum": 0.0, "clip": "none", "start": (0.0, 0.0)}
    given = {"sigma": sigma} if "sigma" in entry.options.model_fields else {}
    balance = entry.make(entry.options.model_validate({**given, **options}))
    assert isinstance(balance, Balance)
    return balance


def run(balance: Balance, base: Curve, align: Curve, progress: Curve, steps: int = 1500) -> list[Weighed]:
    """The policy's own steps, through the same functions as in training; what it said at each."""
    policy, said = balance.start(COUNTS), []
    for step in range(steps):
        t = step / steps
        policy = leaves(balance, policy)
        weighed = balance.weigh(frozen(base(t), align(t)), policy, Moment(progress(t), COUNTS))
        said.append(weighed)
        policy = weighed.remembered or stepped(policy, gradients(weighed, policy), balance.learning, 0.0)
    return said


def settled(balance: Balance, base: float, align: float, p: float = 0.0) -> Weighed:
    return run(balance, lambda t: base, lambda t: align, lambda t: p)[-1]
