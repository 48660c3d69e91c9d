"""What a run is made of between two steps: the snapshot that the next step starts from, and the record of the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from equipoise.core.values import ClientState, Event, Row, State
from equipoise.server.merge import ServerState


@dataclass(frozen=True)
class Best:
    """The state that validation likes most so far, with what clients kept then."""

    value: float
    step: int
    model: State
    broadcast: State
    own: Mapping[int, ClientState]


@dataclass(frozen=True)
class Snapshot:
    """All that the next step depends on.

    server: the server's state; own: what clients keep; stopped: clients that take part no more; broadcast: what goes
    down beside the model; best: the best state so far, where one is chosen.
    """

    server: ServerState
    own: Mapping[int, ClientState] = field(default_factory=dict)
    stopped: frozenset[int] = frozenset()
    broadcast: State = field(default_factory=dict)
    best: Best | None = None


@dataclass(frozen=True)
class Record:
    """One finished step: its numbers, its events, the state the next one starts from, and what pictures need.

    uploads: after the last round, the models and reports that clients sent, if the server's way to predict reads them.
    """

    step: int
    rows: Sequence[Row]
    events: Sequence[Event]
    snapshot: Snapshot
    pictures: State = field(default_factory=dict)
    uploads: Mapping[int, ClientState] = field(default_factory=dict)
