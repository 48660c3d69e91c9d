"""The type of a merge: it takes the server's state and the updates, and returns the next state.

Merge: (ServerState, updates) → ServerState
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from equipoise.core.values import ClientUpdate, State


@dataclass(frozen=True)
class ServerState:
    """The model that goes down, the buffers of a server optimiser, and what goes down beside the model."""

    model: State
    memory: State = field(default_factory=dict)
    broadcast: State = field(default_factory=dict)
    sums: State = field(default_factory=dict)
    """The sum of the reports of this step, where reports add up; it is not kept."""
    progress: float = 0.0
    """p of the whole run, for schedules."""
    n_clients: int = 0
    """Number of clients in the federation, whether or not they took part; 0: unknown."""


Merge = Callable[[ServerState, Sequence[ClientUpdate]], ServerState]


def keep(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    """No merge: the server's state stays as it is."""
    return state
