"""A λ policy: its initial parameters, how it weighs the losses, and how its own parameters learn.

    start(counts) → policy parameters of a client        weigh(losses, parameters, moment) → Weighed

A policy sees the losses, the progress of the run and the client's label counts, and nothing else, so the same policies
serve every task. Policy parameters are client state: they travel with the task and have an optimiser of their own.
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
    """SGD on the policy's parameters; `clip`: none, by their own norm, or jointly with the network's gradient."""

    lr: float
    momentum: float = 0.9
    clip: Clip = "none"


@dataclass(frozen=True)
class Cap:
    """A bound on λ: its formula with numbers, and its value; None: λ is unbounded."""

    formula: str
    value: float | None


Bound = Callable[[float, float], Cap]
"""(L_b, L_a) of the first batch → the bound on λ."""


@dataclass(frozen=True)
class Balance:
    """A λ policy. `cap` computes the bound that is announced at the start."""

    start: Callable[[Labels], State]
    weigh: Callable[[Losses, State, Moment], Weighed]
    learning: Learning | None = None
    cap: Bound | None = None
    is_idle: bool = False
    """Whether the network's loss is always L_b alone."""


def no_parameters(counts: Labels) -> State:
    """The initial parameters of a policy that has none."""
    return {}


def aligned(losses: Losses) -> Tensor:
    """L_a. Settings are checked before a run, so a method without an alignment term never gets here."""
    assert losses.align is not None, "a method with a λ needs an alignment term"
    return losses.align


def in_order(options: T, lam_min: float, lam_max: float) -> T:
    """The options, or an error that names both bounds."""
    if lam_min > lam_max:
        raise ValueError(f"lam_min {lam_min:g} is above lam_max {lam_max:g}")
    return options
