"""The one round loop. Clients train, the server merges, everything that happened is written down.

    for each step:   updates = engine.map(tasks of the cohort)
                     server = merge(server, updates)
                     rows = what clients measured + scores of the merged thing

With rounds the server's model goes down at each step. With one-shot communication nothing does: every client goes on
from its own model, and the merge at a checkpoint only observes, so it starts from the common start each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from equipoise.core.errors import ClientError
from equipoise.core.streams import stream
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Event, Row, State, Task
from equipoise.engine.allocator import keep_freed_memory
from equipoise.engine.engine import Engine, Result
from equipoise.evaluate.score import Scores, chosen_clients, score
from equipoise.evaluate.updates import update_scores
from equipoise.run.build import Federation
from equipoise.server.admit import objection
from equipoise.server.merge import ServerState
from equipoise.server.predict import Merged


@dataclass(frozen=True)
class Snapshot:
    """All that the next step depends on: the server's state, what clients keep, and which of them were stopped."""

    server: ServerState
    own: Mapping[int, ClientState] = field(default_factory=dict)
    stopped: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Record:
    """One finished step: its numbers, its events, and the state the next one starts from."""

    step: int
    rows: Sequence[Row]
    events: Sequence[Event]
    snapshot: Snapshot


Tick = Callable[[int, int, int, Result], None]
"""(step, clients done, clients in the cohort, the newest result)"""


def federate(federation: Federation, engine: Engine, snapshot: Snapshot, first: int, tick: Tick) -> Iterator[Record]:
    """Every step from `first` on; stopping in between loses nothing but the step under way."""
    torch.set_num_threads(federation.config.engine.threads)
    keep_freed_memory()
    for step in range(first, federation.config.steps):
        tasks = plan(federation, snapshot, step)
        results = []
        for result in engine.map(tasks):
            results.append(result)
            tick(step, len(results), len(tasks), result)
        updates, events = admitted(results, snapshot.server.model, step)
        events = [*engine.take_events(), *events]
        snapshot, merged = merge(federation, snapshot, updates, results)
        scores = measured(federation, tasks, updates, merged, step)
        round_ = None if federation.config.is_one_shot else step
        rows = [Row(step, round_, client, name, value) for (client, name), value in scores.items()]
        yield Record(step, rows, events, snapshot)


def first_snapshot(federation: Federation) -> Snapshot:
    return Snapshot(ServerState(federation.start))


def plan(federation: Federation, snapshot: Snapshot, step: int) -> list[Task]:
    """Who trains, and from what."""
    epochs = federation.clock.span(step)
    shared = federation.start if federation.carries else snapshot.server.model
    clients = [client for client in cohort(federation, step) if client not in snapshot.stopped]
    return [Task(step, client, epochs, shared, snapshot.own.get(client, ClientState())) for client in clients]


def cohort(federation: Federation, step: int) -> list[int]:
    """The clients of a step: a fraction, drawn anew each round; with one-shot communication once."""
    n_clients = federation.n_clients
    size = max(1, round(federation.config.server.fraction * n_clients))
    draw = stream(federation.config.seed, "cohort", 0 if federation.config.is_one_shot else step)
    return sorted(draw.choice(n_clients, size, replace=False).tolist())


def admitted(results: Sequence[Result], like: State, step: int) -> tuple[list[ClientUpdate], list[Event]]:
    """The updates that may be merged and an event for each that may not, in client order, whoever answered first."""
    updates, events = [], []
    for result in sorted(results, key=lambda result: result.client):
        if isinstance(result, ClientFailure):
            events.append(Event(f"client-{result.kind}", result.error, step, result.client))
        elif (reason := objection(result, like)) is not None:
            events.append(Event("update-refused", f"client {result.client}: {reason}", step, result.client))
        else:
            updates.append(result)
    if not updates:
        first = events[0].message if events else f"at checkpoint {step + 1} there was nobody left to ask"
        raise ClientError(f"no client gave an update; the first of {len(events)}: {first}")
    return updates, events


def merge(
    federation: Federation, snapshot: Snapshot, updates: Sequence[ClientUpdate], results: Sequence[Result]
) -> tuple[Snapshot, Merged]:
    given = {update.client for update in updates}
    if federation.carries:
        own = {**snapshot.own, **{update.client: update.own for update in updates}}
        everybody = [_standing(federation, client, state) for client, state in sorted(own.items())]
        server = federation.method.merge(ServerState(federation.start), everybody)
        stopped = snapshot.stopped | {result.client for result in results if result.client not in given}
        return Snapshot(server, own, stopped), Merged(server.model, everybody)
    kept = {update.client: ClientState(policy=update.own.policy) for update in updates if update.own.policy}
    server = federation.method.merge(snapshot.server, updates)
    return Snapshot(server, {**snapshot.own, **kept}), Merged(server.model, updates)


def _standing(federation: Federation, client: int, own: ClientState) -> ClientUpdate:
    """A client as the server last heard of it."""
    counts = federation.site.counts(client).tolist()
    return ClientUpdate(client, sum(counts), own.model, own, {}, counts)


def measured(
    federation: Federation, tasks: Sequence[Task], updates: Sequence[ClientUpdate], merged: Merged, step: int
) -> Scores:
    config = federation.config
    scores: Scores = {(update.client, name): value for update in updates for name, value in update.metrics.items()}
    scores |= update_scores(tasks[0].shared, updates)
    scores |= traffic(federation, len(tasks), len(updates), step)
    if (step + 1) % config.evaluate.every == 0 or step + 1 == config.steps:
        at_most = len(merged.clients) if federation.method.predict is None else config.evaluate.clients
        clients = chosen_clients(merged.clients, at_most, config.seed, step)
        scores |= score(federation.scorer, federation.method.predict, merged, clients)
    return scores


def traffic(federation: Federation, n_tasks: int, n_updates: int, step: int) -> Scores:
    """Bytes that would cross the network: the start goes down once; a one-shot model comes up once, at the end."""
    if federation.method.predict is None or federation.method.pools_data:
        return {(None, "bytes/down"): 0.0, (None, "bytes/up"): 0.0}
    size = sum(tensor.numel() * tensor.element_size() for tensor in federation.start.values())
    goes_down = step == 0 or not federation.carries
    comes_up = not federation.carries or step + 1 == federation.config.steps
    down, up = n_tasks * size * goes_down, n_updates * size * comes_up
    return {(None, "bytes/down"): float(down), (None, "bytes/up"): float(up)}
