"""Adds users' sums to a finished recommender: its trained model and the closed-form scores rank together.

    answers = ask(every user, item-sums)        tables = solve(Σ answers)        scores = judge(model and tables)

Nothing is trained. The result is stored as a run that refers to the one whose model it uses, with `server.sums` in its
configuration; it has the numbers of a run that had that setting from the start. What was made before is found again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from equipoise.config.check import check
from equipoise.config.loader import Request
from equipoise.config.schema import Config
from equipoise.core.arithmetic import prepare
from equipoise.core.errors import ConfigError
from equipoise.core.values import Event
from equipoise.evaluate.score import Scores
from equipoise.run.announce import ALONE, announce, folder_of, require_same_data
from equipoise.run.ask import ask
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.carry_on import look_back
from equipoise.run.checkpoint import unpack
from equipoise.run.fuse import require_finished, uploaded
from equipoise.run.matching import runs_of
from equipoise.run.observe import rows_of
from equipoise.run.placed import here
from equipoise.run.state import Best
from equipoise.server.predict import Merged
from equipoise.store import blobs, read, write
from equipoise.store.database import Store
from equipoise.store.records import Run, new_run_id


def fuse_sums(store: Store, run: Run, sums: Sequence[str], data_path: Path | None = None) -> list[str]:
    """The ids of the runs with these sums, in their order."""
    wanted = [with_sums(here(check(run.config)), score) for score in sums]
    require_finished(run)
    return [_known(store, run, config) or _fused(store, run, config, folder_of(run, data_path)) for config in wanted]


def with_sums(config: Config, score: str) -> Config:
    """The configuration with users' sums beside the model."""
    server = config.server.model_dump() | {"sums": score}
    return check(config.model_dump() | {"name": f"{config.name}-{score}-sums", "server": server})


def _known(store: Store, run: Run, config: Config) -> str | None:
    """A run of that configuration on the same data, made by the same version."""
    content = run.environment["content"]
    done = [one for one in runs_of(store, config) if (one.status, one.version) == ("done", run.version)]
    return next((one.run_id for one in done if one.environment["content"] == content), None)


def _fused(store: Store, run: Run, config: Config, folder: Path | None) -> str:
    federation = build(config, folder)
    require_same_data(run, federation, folder)
    checkpoint = read.checkpoints(store, run.run_id)[0]
    best = unpack({name: blobs.get(store, digest) for name, digest in checkpoint.manifest.items()}).best
    if best is None:
        what = f"run '{run.run_id}' chose no state on validation"
        raise ConfigError(what, where="data.split", fix="fuse works on runs that are tested once, at their end")
    prepare(federation.config.engine)
    scores, events = _scored(federation, best, checkpoint.step)
    scores |= uploaded(store, run, scores)
    run_id, detail = new_run_id(config.name), {"from": run.run_id}
    text = f"model of run {run.run_id} after checkpoint {best.step + 1}, and every user's sums; nothing was trained"
    with write.hold(store, run_id), blobs.referring(store):
        announce(store, run_id, Request(config, folder), federation, ALONE)
        rows = rows_of(federation, scores, checkpoint.step)
        fused = Event("fused", text, detail=detail)
        write.commit_step(store, run_id, checkpoint.step, rows, [fused, *events], checkpoint.manifest)
        write.finish(store, run_id, "done")
    look_back(store, run_id)
    return run_id


def _scored(federation: Federation, best: Best, step: int) -> tuple[Scores, list[Event]]:
    """Scores of the model with users' sums, and what the engine tells of asking for them."""
    merged, judge = Merged(best.model, (), best.broadcast), federation.judge
    with closing(make_engine(federation.site)) as engine:
        answers = ask(engine, federation.roster, merged, judge.questions(merged, step, True), step)
        scores, _ = judge.observe(merged, best.own, step, True, answers)
        return scores | judge.final(merged, best.own), engine.take_events()
