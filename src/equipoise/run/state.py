"""The state of a run between two steps: the snapshot that the next step starts from, and the record of the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from equipoise.core.values import ClientState, Event, Row, State
from equipoise.server.merge import ServerState


@dataclass(frozen=True)
class Best:
    """The state with the best validation score so far, with the clients' states at that time."""

    value: float
    step: int
    model: State
    broadcast: State
    own: Mapping[int, ClientState]


@dataclass(frozen=True)
class Snapshot:
    """Everything that the next step depends on.

    server: the server's state; own: the clients' states; stopped: clients that no longer take part; broadcast: what
    goes down beside the model; best: the best state so far, if one is chosen.
    """

    server: ServerState
    own: Mapping[int, ClientState] = field(default_factory=dict)
    stopped: frozenset[int] = frozenset()
    broadcast: State = field(default_factory=dict)
    best: Best | None = None


@dataclass(frozen=True)
class Record:
    """One finished step: its numbers, its events, the state the next one starts from, and the tensors for pictures.

    uploads: after the last round, the models and reports that clients sent, if the server's predictor reads them.
    """

    step: int
    rows: Sequence[Row]
    events: Sequence[Event]
    snapshot: Snapshot
    pictures: State = field(default_factory=dict)
    uploads: Mapping[int, ClientState] = field(default_factory=dict)
