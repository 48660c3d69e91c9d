"""One step of a federation: clients train, the server merges.

    updates = engine.map(tasks of the cohort)        server = merge(server, updates)

With rounds the server's model goes down at each step. With one-shot communication nothing goes down: every client
continues from its own model, and the merge at a checkpoint only observes, so it always starts from the common start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from equipoise.core.errors import ClientError
from equipoise.core.streams import stream
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Event, Result, State, Task
from equipoise.engine.engine import Engine
from equipoise.run.build import Federation
from equipoise.run.state import Snapshot
from equipoise.server.admit import objections
from equipoise.server.merge import ServerState
from equipoise.server.predict import Merged
from equipoise.server.total import Total

NO_SUMS: State = MappingProxyType({})
Tick = Callable[[int, int, int, Result], None]
"""(step, clients done, clients in the cohort, the newest result)"""


@dataclass(frozen=True)
class Begun:
    """A step in progress: the clients' tasks, and their results as they come."""

    step: int
    tasks: Sequence[Task]
    answers: Iterator[Result]


@dataclass(frozen=True)
class Advanced:
    """A step after its merge, before scoring."""

    step: int
    tasks: Sequence[Task]
    updates: Sequence[ClientUpdate]
    events: Sequence[Event]
    start: State
    """What the clients started from."""
    snapshot: Snapshot
    merged: Merged


def begin(federation: Federation, engine: Engine, snapshot: Snapshot, step: int) -> Begun:
    tasks = plan(federation, snapshot, step)
    return Begun(step, tasks, engine.map(tasks))


def advance(federation: Federation, engine: Engine, snapshot: Snapshot, begun: Begun, tick: Tick) -> Advanced:
    """Wait for the clients of a step, and merge the updates that pass the checks."""
    step, results = begun.step, []
    now = replace(snapshot, server=_server_now(federation, snapshot, step))
    start = federation.start if federation.carries else now.server.model
    exchange = federation.method.exchange
    total = None if exchange.sums is None else Total(exchange.sums, federation.sent_of(start), exchange.add)
    for result in begun.answers:
        results.append(result if total is None else total.take(result))
        tick(step, len(results), len(begun.tasks), result)
    if total is not None:
        now = replace(now, server=replace(now.server, sums=total.state))
    updates, refused = admitted(results, federation.sent_of(start), step)
    after, merged = merge(federation, now, updates, results, step)
    return Advanced(step, begun.tasks, updates, [*engine.take_events(), *refused], start, after, merged)


def _server_now(federation: Federation, snapshot: Snapshot, step: int) -> ServerState:
    """The server's state as the merge gets it, with everything that goes down beside the model."""
    progress, n_clients = step / federation.config.steps, federation.n_clients
    return replace(snapshot.server, broadcast=snapshot.broadcast, progress=progress, n_clients=n_clients)


def plan(federation: Federation, snapshot: Snapshot, step: int) -> list[Task]:
    """The tasks of a step: which clients train, and from which model."""
    epochs = federation.clock.span(step) if federation.method.trains else range(0)
    shared = {**(federation.start if federation.carries else snapshot.server.model), **snapshot.broadcast}
    clients = [client for client in cohort(federation, step) if client not in snapshot.stopped]
    return [Task(step, client, epochs, shared, snapshot.own.get(client, ClientState())) for client in clients]


def cohort(federation: Federation, step: int) -> list[int]:
    """The clients of a step: a fraction, drawn anew each round; with one-shot communication, drawn once.

    A client with nothing to train on at that step is replaced by one that has data, as long as there is one.
    """
    roster, n_clients = federation.roster, federation.n_clients
    size = max(1, round(federation.config.server.fraction * n_clients))
    draw = stream(federation.config.seed, "cohort", 0 if federation.config.is_one_shot else step)
    drawn = draw.choice(n_clients, size, replace=False).tolist()
    going = [client for client in drawn if not roster.is_idle(client, step)]
    if len(going) < size:
        others = set(range(n_clients)).difference(drawn)
        ready = [client for client in sorted(others) if not roster.is_idle(client, step)]
        going += draw.choice(ready, min(size - len(going), len(ready)), replace=False).tolist() if ready else []
    return sorted(going)


def admitted(results: Sequence[Result], like: State, step: int) -> tuple[list[ClientUpdate], list[Event]]:
    """The updates that may be merged, and an event for each that may not, in client order."""
    updates, events = [], []
    ordered = sorted(results, key=lambda result: result.client)
    reasons = iter(objections([result for result in ordered if isinstance(result, ClientUpdate)], like))
    for result in ordered:
        if isinstance(result, ClientFailure):
            events.append(Event(f"client-{result.kind}", result.error, step, result.client))
        elif (reason := next(reasons)) is not None:
            events.append(Event("update-refused", f"client {result.client}: {reason}", step, result.client))
        else:
            updates.append(result)
    if not updates:
        first = events[0].message if events else f"at checkpoint {step + 1} there was nobody left to ask"
        raise ClientError(f"no client gave an update; the first of {len(events)}: {first}")
    return updates, events


def merge(
    federation: Federation, snapshot: Snapshot, updates: Sequence[ClientUpdate], results: Sequence[Result], step: int
) -> tuple[Snapshot, Merged]:
    """The state after a step, and the merged result to score."""
    given = {update.client for update in updates}
    if federation.carries:
        own = {**snapshot.own, **{update.client: update.own for update in updates}}
        stopped = snapshot.stopped | {result.client for result in results if result.client not in given}
        server, merged = merge_latest(federation, own, snapshot.server.sums)
        broadcast = snapshot.broadcast if federation.config.is_one_shot else {**snapshot.broadcast, **server.broadcast}
        return replace(snapshot, server=server, own=own, stopped=stopped, broadcast=broadcast), merged
    kept = {update.client: carried(update) for update in updates}
    kept = {client: own for client, own in kept.items() if own.model or own.policy or own.memory or own.handle}
    server = replace(federation.merge(snapshot.server, updates, step), sums={})
    broadcast = {**snapshot.broadcast, **server.broadcast}
    after = replace(snapshot, server=server, own={**snapshot.own, **kept}, broadcast=broadcast)
    return after, Merged(server.model, [with_personal(update) for update in updates], server.broadcast)


def with_personal(update: ClientUpdate) -> ClientUpdate:
    """The update with the client's personal weights, for whoever scores its own model; not if its node keeps them."""
    return replace(update, model={**update.model, **update.own.model}) if update.own.model else update


def carried(update: ClientUpdate) -> ClientState:
    """What a client keeps from round to round: its personal weights, its policy and its memory."""
    if update.own.handle:
        return ClientState(handle=update.own.handle)
    return replace(update.own, optimiser={}, report={})


def merge_latest(
    federation: Federation, own: Mapping[int, ClientState], sums: State = NO_SUMS
) -> tuple[ServerState, Merged]:
    """The merge of each client's latest state, from the common start."""
    everybody = []
    for client, state in sorted(own.items()):
        counts = federation.roster.counts(client).tolist()
        everybody.append(ClientUpdate(client, sum(counts), state.model, state, {}, counts))
    before = ServerState(federation.start, sums=sums, n_clients=federation.n_clients)
    server = replace(federation.merge(before, everybody), sums={})
    return server, Merged(server.model, everybody, server.broadcast)
