"""A λ policy: what it starts from, how it weighs, and how its own parameters learn.

    start(counts) → policy parameters of a client        weigh(losses, parameters, moment) → Weighed

It sees the losses, the progress of the run and the client's label counts, nothing else, so the same policies serve
every task. Policy parameters are client state: they travel with the task and have an optimiser of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from equipoise.core.values import Labels, Losses, Moment, State, Weighed

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
Clip = Literal["none", "separate", "joint"]


@dataclass(frozen=True)
class Learning:
    """SGD on the policy's parameters; `clip`: not at all, by their own norm, or inside the network's clip."""

    lr: float
    momentum: float = 0.9
    clip: Clip = "none"


@dataclass(frozen=True)
class Cap:
    """A bound on λ as a formula with its numbers in, and its value; None: nothing bounds λ."""

    formula: str
    value: float | None


Bound = Callable[[float, float], Cap]
"""(L_b, L_a) of the first batch → where λ ends."""


@dataclass(frozen=True)
class Balance:
    start: Callable[[Labels], State]
    weigh: Callable[[Losses, State, Moment], Weighed]
    learning: Learning | None = None
    cap: Bound | None = None
    is_idle: bool = False
    """Whether the network sees L_b as it is, whatever the losses are."""


def no_parameters(counts: Labels) -> State:
    return {}


def aligned(losses: Losses) -> Tensor:
    """L_a of a method that has one; a policy on a method without is a mistake of ours."""
    assert losses.align is not None, "a method with a λ needs an alignment term"
    return losses.align


def in_order(options: T, lam_min: float, lam_max: float) -> T:
    """The options themselves, or an error that names both bounds."""
    if lam_min > lam_max:
        raise ValueError(f"lam_min {lam_min:g} is above lam_max {lam_max:g}")
    return options
