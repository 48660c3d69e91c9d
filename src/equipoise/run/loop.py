"""The one round loop. Clients train, the server merges, everything that happened is written down.

    for each step:   updates = engine.map(tasks of the cohort)
                     server = merge(server, updates)
                     rows = what clients measured + scores of the merged thing

The next step depends on the merge, not on its scores, so it is begun before they are formed: an engine with workers of
its own is at it meanwhile. Only where scores may end the run does it wait for them.

With rounds the server's model goes down at each step. With one-shot communication nothing does: every client goes on
from its own model, and the merge at a checkpoint only observes, so it starts from the common start each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from equipoise.client.groups import trained
from equipoise.core.errors import ClientError
from equipoise.core.stopwatch import WATCH
from equipoise.core.streams import stream
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Event, Result, Row, State, Task
from equipoise.engine.allocator import keep_freed_memory
from equipoise.engine.engine import Engine
from equipoise.evaluate.hashes import hashes
from equipoise.evaluate.score import Scores
from equipoise.evaluate.updates import update_scores
from equipoise.run.build import Federation
from equipoise.run.teacher import first_broadcast
from equipoise.run.traffic import traffic
from equipoise.server.admit import objection
from equipoise.server.merge import ServerState
from equipoise.server.predict import Merged


@dataclass(frozen=True)
class Best:
    """The state that validation likes most so far, with what clients remembered then."""

    value: float
    step: int
    model: State
    broadcast: State
    own: Mapping[int, ClientState]


@dataclass(frozen=True)
class Snapshot:
    """All that the next step depends on: the server's state, what clients keep, which of them were stopped, what goes
    down beside the model, and the best so far where one is chosen."""

    server: ServerState
    own: Mapping[int, ClientState] = field(default_factory=dict)
    stopped: frozenset[int] = frozenset()
    broadcast: State = field(default_factory=dict)
    best: Best | None = None


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
Begun = tuple[list[Task], Iterator[Result]]
"""A step under way: what clients were asked, and their answers."""


def federate(federation: Federation, engine: Engine, snapshot: Snapshot, first: int, tick: Tick) -> Iterator[Record]:
    """Every step from `first` on; stopping in between loses nothing but the step under way."""
    torch.set_num_threads(federation.config.engine.threads)
    keep_freed_memory()
    ahead: Begun | None = None
    if first > 0 and is_enough(federation, snapshot, first - 1):  # it was over, and stopped before that was written
        return
    for step in range(first, federation.config.steps):
        now = replace(snapshot.server, progress=step / federation.config.steps)
        snapshot = replace(snapshot, server=now)
        tasks, answers = ahead or begin(federation, engine, snapshot, step)
        results = []
        for result in answers:
            results.append(result)
            tick(step, len(results), len(tasks), result)
        start = federation.start if federation.carries else snapshot.server.model
        updates, events = admitted(results, start, step)
        events = [*engine.take_events(), *events]
        snapshot, merged = merge(federation, snapshot, updates, results, step)
        ahead = begin(federation, engine, snapshot, step + 1) if is_certain(federation, step + 1) else None
        WATCH.lap("merge")
        recorded: Scores = {
            (update.client, name): value for update in updates for name, value in update.metrics.items()
        }
        is_last = step + 1 == federation.config.steps
        scores, kept = federation.judge.observe(merged, snapshot.own, step, is_last)
        snapshot = replace(snapshot, best=better(federation, snapshot, merged, scores, step))
        is_early = not is_last and is_enough(federation, snapshot, step)
        if is_early:  # what is scored at the end, and the pictures
            scores, kept = federation.judge.observe(merged, snapshot.own, step, is_last=True)
            events.append(stopped_early(federation, snapshot, step))
        is_over = is_last or is_early
        if is_over and (best := snapshot.best) is not None:
            scores |= federation.judge.final(Merged(best.model, (), best.broadcast), best.own)
        WATCH.lap("evaluate")
        moving = trained(federation.config, federation.groups, step)
        recorded |= hashes(tasks, updates, moving, federation.config.is_one_shot, merged.model)
        common = {name: tensor for name, tensor in start.items() if name not in federation.personal}
        recorded |= update_scores(common, updates) | traffic(federation, tasks, updates, scores, is_over) | scores
        WATCH.lap("merge")
        yield Record(step, rows_of(federation, recorded, step), events, snapshot, kept)
        if is_over:
            return


def first_snapshot(federation: Federation) -> Snapshot:
    return Snapshot(ServerState(federation.start), broadcast=first_broadcast(federation))


def begin(federation: Federation, engine: Engine, snapshot: Snapshot, step: int) -> Begun:
    tasks = plan(federation, snapshot, step)
    return tasks, engine.map(tasks)


def is_certain(federation: Federation, step: int) -> bool:
    """Whether a step will be taken, whatever the scores of the one before it."""
    return step < federation.config.steps and federation.config.evaluate.patience is None


def plan(federation: Federation, snapshot: Snapshot, step: int) -> list[Task]:
    """Who trains, and from what."""
    epochs = federation.clock.span(step) if federation.method.trains else range(0)
    shared = {**(federation.start if federation.carries else snapshot.server.model), **snapshot.broadcast}
    clients = [client for client in cohort(federation, step) if client not in snapshot.stopped]
    return [Task(step, client, epochs, shared, snapshot.own.get(client, ClientState())) for client in clients]


def cohort(federation: Federation, step: int) -> list[int]:
    """The clients of a step: a fraction, drawn anew each round; with one-shot communication once.

    Whoever has nothing to train on at that step is replaced by somebody who has, as long as there is anybody.
    """
    n_clients = federation.n_clients
    size = max(1, round(federation.config.server.fraction * n_clients))
    draw = stream(federation.config.seed, "cohort", 0 if federation.config.is_one_shot else step)
    drawn = draw.choice(n_clients, size, replace=False).tolist()
    going = [client for client in drawn if not federation.site.is_idle(client, step)]
    if len(going) < size:
        others = set(range(n_clients)).difference(drawn)
        ready = [client for client in sorted(others) if not federation.site.is_idle(client, step)]
        going += draw.choice(ready, min(size - len(going), len(ready)), replace=False).tolist() if ready else []
    return sorted(going)


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
    federation: Federation, snapshot: Snapshot, updates: Sequence[ClientUpdate], results: Sequence[Result], step: int
) -> tuple[Snapshot, Merged]:
    """The state after a step, and what is scored."""
    given = {update.client for update in updates}
    if federation.carries:
        own = {**snapshot.own, **{update.client: update.own for update in updates}}
        stopped = snapshot.stopped | {result.client for result in results if result.client not in given}
        server, merged = merge_latest(federation, own)
        broadcast = snapshot.broadcast if federation.config.is_one_shot else {**snapshot.broadcast, **server.broadcast}
        return replace(snapshot, server=server, own=own, stopped=stopped, broadcast=broadcast), merged
    kept = {update.client: carried(federation, update) for update in updates}
    kept = {client: own for client, own in kept.items() if own.model or own.policy or own.memory}
    server = federation.merge(snapshot.server, updates, step)
    broadcast = {**snapshot.broadcast, **server.broadcast}
    after = replace(snapshot, server=server, own={**snapshot.own, **kept}, broadcast=broadcast)
    return after, Merged(server.model, updates, server.broadcast)


def carried(federation: Federation, update: ClientUpdate) -> ClientState:
    """What a client keeps from round to round: what is personal, its policy and its memory."""
    mine = {name: update.model[name] for name in federation.personal}
    return ClientState(model=mine, policy=update.own.policy, memory=update.own.memory)


def merge_latest(federation: Federation, own: Mapping[int, ClientState]) -> tuple[ServerState, Merged]:
    """The merge of clients as the server last heard of them, from the common start."""
    everybody = []
    for client, state in sorted(own.items()):
        counts = federation.site.counts(client).tolist()
        everybody.append(ClientUpdate(client, sum(counts), state.model, state, {}, counts))
    server = federation.merge(ServerState(federation.start), everybody)
    return server, Merged(server.model, everybody, server.broadcast)


def better(federation: Federation, snapshot: Snapshot, merged: Merged, scores: Scores, step: int) -> Best | None:
    """The best so far, now that this step is scored."""
    choice, best = federation.judge.choice, snapshot.best
    value = scores.get((None, choice)) if choice is not None else None
    if value is None or (best is not None and value <= best.value):
        return best
    return Best(value, step, merged.model, merged.broadcast, snapshot.own)


def is_enough(federation: Federation, snapshot: Snapshot, step: int) -> bool:
    """Whether validation has not improved for as many scored checkpoints as the configuration waits."""
    options, best = federation.config.evaluate, snapshot.best
    if options.patience is None or best is None:
        return False
    return (step + 1) // options.every - (best.step + 1) // options.every >= options.patience


def stopped_early(federation: Federation, snapshot: Snapshot, step: int) -> Event:
    config, best = federation.config, snapshot.best
    assert best is not None, "nothing ends early that was never scored"
    axis = "checkpoint" if config.is_one_shot else "round"
    text = f"stopped early at {axis} {step + 1} of {config.steps}: {federation.judge.choice} was best"
    text += f" at {axis} {best.step + 1}, {best.value:.4g}; that state is kept"
    return Event("stopped-early", text, step, detail={"best": best.step, "value": best.value})


def rows_of(federation: Federation, scores: Scores, step: int) -> list[Row]:
    round_ = None if federation.config.is_one_shot else step
    return [Row(step, round_, client, name, value) for (client, name), value in scores.items()]
