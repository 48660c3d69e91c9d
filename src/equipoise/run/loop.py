"""The one round loop. Clients train, the server merges, everything is recorded.

    for each step:   done = advance(…)          clients train, the server merges
                     answers = ask(…)           what the server needs from clients to predict
                     judged = judge(…)          scores

The next step depends on the merge, not on its scores, so it starts before scoring: an engine with worker processes
trains meanwhile. It waits for the scores only if they may end the run.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.config.traits import ONE_MODEL
from equipoise.core.arithmetic import prepare
from equipoise.core.registry import PREDICTS
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import ClientState, Question
from equipoise.engine.allocator import keep_freed_memory
from equipoise.engine.engine import Engine
from equipoise.run.advance import Advanced, Begun, Tick, advance, begin
from equipoise.run.ask import ask
from equipoise.run.build import Federation
from equipoise.run.observe import is_enough, judge, numbers, rows_of
from equipoise.run.state import Record, Snapshot
from equipoise.server.merge import ServerState


def federate(federation: Federation, engine: Engine, snapshot: Snapshot, first: int, tick: Tick) -> Iterator[Record]:
    """Every step from `first` on; stopping in between loses only the step in progress."""
    prepare(federation.config.engine)
    if federation.method.trains:
        keep_freed_memory()
    if first > 0 and is_enough(federation, snapshot, first - 1):  # it was over, but stopped before recording that
        return
    ahead: Begun | None = None
    for step in range(first, federation.config.steps):
        done = advance(federation, engine, snapshot, ahead or begin(federation, engine, snapshot, step), tick)
        answers = ask(engine, federation.roster, done.merged, questions(federation, done), step)
        events, snapshot = [*done.events, *engine.take_events()], done.snapshot
        ahead = begin(federation, engine, snapshot, step + 1) if is_certain(federation, step + 1) else None
        WATCH.lap("merge")
        judged = judge(federation, done, answers)
        snapshot = judged.snapshot
        WATCH.lap("evaluate")
        rows = rows_of(federation, numbers(federation, done, judged), step)
        WATCH.lap("merge")
        uploads = read_when_predicting(federation, done) if judged.is_over else {}
        yield Record(step, rows, [*events, *judged.events], snapshot, judged.pictures, uploads)
        if judged.is_over:
            return


def first_snapshot(federation: Federation) -> Snapshot:
    return Snapshot(ServerState(federation.start), broadcast=federation.first_broadcast(federation.start))


def read_when_predicting(federation: Federation, done: Advanced) -> dict[int, ClientState]:
    """What clients sent in a round, if the predictor needs it; without rounds it is part of their own state."""
    predict = federation.method.predict
    if federation.carries or predict is None or ONE_MODEL in PREDICTS.find(predict).traits:
        return {}
    return {update.client: ClientState(model=update.model, report=update.own.report) for update in done.updates}


def questions(federation: Federation, done: Advanced) -> list[Question]:
    """The questions to ask before a step is scored; if the step may turn out to be the last, those of the last step."""
    may_be_last = not is_certain(federation, done.step + 1)
    return federation.judge.questions(done.merged, done.step, may_be_last)


def is_certain(federation: Federation, step: int) -> bool:
    """Whether a step will be taken regardless of the scores of the one before it."""
    return step < federation.config.steps and federation.config.evaluate.patience is None
