"""What is recorded about a step: each observer contributes numbers.

    clients     measurements during training                 judge      scores of the server
    hashes      whether states are equal to the last bit     updates    how far clients moved, and in which direction
traffic     bytes that would cross the network
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from equipoise.client.groups import trained
from equipoise.core.values import Event, Row, State
from equipoise.evaluate.hashes import hashes
from equipoise.evaluate.score import Answers, Scores
from equipoise.evaluate.updates import update_scores
from equipoise.run.advance import Advanced
from equipoise.run.build import Federation
from equipoise.run.state import Best, Snapshot
from equipoise.run.traffic import traffic
from equipoise.server.predict import Merged


@dataclass(frozen=True)
class Judged:
    """A step's scores, the tensors for pictures, and whether the run ends here."""

    scores: Scores
    pictures: State
    snapshot: Snapshot
    is_over: bool
    events: tuple[Event, ...] = ()


def judge(federation: Federation, done: Advanced, answers: Answers) -> Judged:
    """Score a step. If validation ends the run here, it is scored as the last step."""
    step, is_last = done.step, done.step + 1 == federation.config.steps
    scores, kept = federation.judge.observe(done.merged, done.snapshot.own, step, is_last, answers)
    snapshot = replace(done.snapshot, best=better(federation, done.snapshot, done.merged, scores, step))
    is_early = not is_last and is_enough(federation, snapshot, step)
    if is_early:
        scores, kept = federation.judge.observe(done.merged, snapshot.own, step, is_last=True, answers=answers)
    is_over = is_last or is_early
    if is_over and (best := snapshot.best) is not None:
        scores |= federation.judge.final(Merged(best.model, (), best.broadcast), best.own)
    events = (stopped_early(federation, snapshot, step),) if is_early else ()
    return Judged(scores, kept, snapshot, is_over, events)


def numbers(federation: Federation, done: Advanced, judged: Judged) -> Scores:
    """All numbers of a step."""
    measured: Scores = {(each.client, name): value for each in done.updates for name, value in each.metrics.items()}
    moving = trained(federation.config, federation.groups, done.step)
    common = {name: tensor for name, tensor in done.start.items() if name not in federation.personal}
    return {
        **measured,
        **hashes(done.tasks, done.updates, moving, federation.config.is_one_shot, done.merged.model),
        **update_scores(common, done.updates),
        **traffic(federation, done.tasks, done.updates, judged.scores, judged.is_over),
        **judged.scores,
    }


def rows_of(federation: Federation, scores: Scores, step: int) -> list[Row]:
    round_ = None if federation.config.is_one_shot else step
    return [Row(step, round_, client, name, value) for (client, name), value in scores.items()]


def better(federation: Federation, snapshot: Snapshot, merged: Merged, scores: Scores, step: int) -> Best | None:
    """The best state so far, including this step."""
    choice, best = federation.judge.choice, snapshot.best
    value = scores.get((None, choice)) if choice is not None else None
    if value is None or (best is not None and value <= best.value):
        return best
    return Best(value, step, merged.model, merged.broadcast, snapshot.own)


def is_enough(federation: Federation, snapshot: Snapshot, step: int) -> bool:
    """Whether validation has not improved for the configured number of scored checkpoints."""
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
