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
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Event, Row, State, Task, n_bytes
from equipoise.engine.allocator import keep_freed_memory
from equipoise.engine.engine import Engine, Result
from equipoise.evaluate.geometry import prototype_scores
from equipoise.evaluate.looks import Looks
from equipoise.evaluate.pictures import pictures
from equipoise.evaluate.score import Scores, beside, chosen_clients, score
from equipoise.evaluate.updates import update_scores
from equipoise.run.build import Federation
from equipoise.run.teacher import first_gift
from equipoise.server.admit import objection
from equipoise.server.merge import ServerState
from equipoise.server.predict import Merged


@dataclass(frozen=True)
class Snapshot:
    """All that the next step depends on: the server's state, what clients keep, which of them were stopped, and what
    goes down beside the model."""

    server: ServerState
    own: Mapping[int, ClientState] = field(default_factory=dict)
    stopped: frozenset[int] = frozenset()
    gift: State = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """One finished step: its numbers, its events, the state the next one starts from, and at the end of the run what
    pictures need."""

    step: int
    rows: Sequence[Row]
    events: Sequence[Event]
    snapshot: Snapshot
    pictures: State = field(default_factory=dict)


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
        start = federation.start if federation.carries else snapshot.server.model
        updates, events = admitted(results, start, step)
        events = [*engine.take_events(), *events]
        snapshot, merged = merge(federation, snapshot, updates, results)
        told: Scores = {(update.client, name): value for update in updates for name, value in update.metrics.items()}
        scores, kept = observed(federation, merged, step)
        told |= update_scores(start, updates) | traffic(federation, tasks, updates) | scores
        yield Record(step, rows_of(federation, told, step), events, snapshot, kept)


def first_snapshot(federation: Federation) -> Snapshot:
    return Snapshot(ServerState(federation.start), gift=first_gift(federation))


def plan(federation: Federation, snapshot: Snapshot, step: int) -> list[Task]:
    """Who trains, and from what."""
    epochs = federation.clock.span(step) if federation.method.trains else range(0)
    shared = {**(federation.start if federation.carries else snapshot.server.model), **snapshot.gift}
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
        stopped = snapshot.stopped | {result.client for result in results if result.client not in given}
        server, merged = stood(federation, own)
        gift = snapshot.gift if federation.config.is_one_shot else {**snapshot.gift, **server.gift}
        return Snapshot(server, own, stopped, gift), merged
    kept = {
        update.client: ClientState(policy=update.own.policy, memory=update.own.memory)
        for update in updates
        if update.own.policy or update.own.memory
    }
    server = federation.merge(snapshot.server, updates)
    gift = {**snapshot.gift, **server.gift}
    return Snapshot(server, {**snapshot.own, **kept}, gift=gift), Merged(server.model, updates, server.gift)


def stood(federation: Federation, own: Mapping[int, ClientState]) -> tuple[ServerState, Merged]:
    """The merge of clients as the server last heard of them, from the common start."""
    everybody = []
    for client, state in sorted(own.items()):
        counts = federation.site.counts(client).tolist()
        everybody.append(ClientUpdate(client, sum(counts), state.model, state, {}, counts))
    server = federation.merge(ServerState(federation.start), everybody)
    return server, Merged(server.model, everybody, server.gift)


def rows_of(federation: Federation, scores: Scores, step: int) -> list[Row]:
    round_ = None if federation.config.is_one_shot else step
    return [Row(step, round_, client, name, value) for (client, name), value in scores.items()]


def observed(federation: Federation, merged: Merged, step: int) -> tuple[Scores, State]:
    """What the evaluator measures at a checkpoint, and what it keeps of the last one for pictures."""
    config, method = federation.config, federation.method
    scores, is_last = prototype_scores(merged), step + 1 == config.steps
    if not is_last and (step + 1) % config.evaluate.every != 0:
        return scores, {}
    looks = Looks(federation.scorer)
    at_most = len(merged.clients) if method.predict is None else config.evaluate.clients
    clients = chosen_clients(merged.clients, at_most, config.seed, step)
    scores |= score(looks, method.predict, merged, clients)
    if method.predict and len(merged.clients) <= config.evaluate.clients and config.shows_beside(is_last):
        scores |= beside(looks, merged)
    return scores, pictures(looks, merged, clients) if is_last else {}


def traffic(federation: Federation, tasks: Sequence[Task], updates: Sequence[ClientUpdate]) -> Scores:
    """Bytes that would cross the network: the start goes down once; a one-shot model comes up once, at the end."""
    method, step = federation.method, tasks[0].step
    if method.pools_data or (method.predict is None and not method.sends_up):
        return {(None, "bytes/down"): 0.0, (None, "bytes/up"): 0.0}
    is_one_shot, is_last = federation.config.is_one_shot, step + 1 == federation.config.steps
    model = n_bytes(federation.start)
    gift = n_bytes(tasks[0].shared) - model
    down = model * (step == 0 or not federation.carries) + gift * (step == 0 or not is_one_shot)
    up = [
        model * method.sends_up * (is_last or not federation.carries),
        *(n_bytes(update.own.told) for update in updates),
    ]
    return {
        (None, "bytes/down"): float(len(tasks) * down),
        (None, "bytes/up"): float(len(updates) * up[0] + sum(up[1:]) * (is_last or not is_one_shot)),
    }
