"""A λ policy: two functions. It sees the losses, the progress of the run and the client's label counts, nothing else.

    start(counts) → policy parameters of a client        weigh(losses, parameters, moment) → Weighed

Policy parameters are client state: they travel with the task and have their own optimiser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from equipoise.core.values import Labels, Losses, State, Weighed


@dataclass(frozen=True)
class Moment:
    """p ∈ [0, 1), the progress of the whole run, and how many images of each class the client has."""

    progress: float
    counts: Labels


@dataclass(frozen=True)
class Balance:
    start: Callable[[Labels], State]
    weigh: Callable[[Losses, State, Moment], Weighed]


def no_parameters(counts: Labels) -> State:
    return {}
