"""Train once, fuse many: scores other servers on the clients of a finished run.

    for each (merge, predict):   merged = merge(stored clients)      scores = predict(merged)      → a run of its own

Nothing is trained. Each pair is stored as a run that refers to the run its clients came from, so tables can list it. A
pair that was fused before is found again, not recomputed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from equipoise import __version__
from equipoise.config.check import check
from equipoise.config.loader import Request
from equipoise.config.schema import Config
from equipoise.config.traits import LABELS
from equipoise.core.arithmetic import prepare
from equipoise.core.errors import ConfigError
from equipoise.core.registry import PREDICTS
from equipoise.core.values import ClientState, Event
from equipoise.engine.engine import Engine
from equipoise.evaluate.geometry import prototype_scores
from equipoise.evaluate.judge import SampleJudge
from equipoise.evaluate.pictures import pictures
from equipoise.evaluate.predictions import PredictionCache
from equipoise.evaluate.score import Scores, beside, chosen_clients, questions_of, score
from equipoise.method.resolve import resolve
from equipoise.run.advance import merge_latest
from equipoise.run.announce import ALONE, Membership, announce, folder_of, require_same_data
from equipoise.run.ask import ask
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.carry_on import look_back
from equipoise.run.checkpoint import pack, pack_pictures, unpack
from equipoise.run.matching import runs_of
from equipoise.run.observe import rows_of
from equipoise.run.placed import here
from equipoise.run.state import Snapshot
from equipoise.run.traffic import ANSWERED, ASKED, DOWN, UP
from equipoise.store import blobs, read, write
from equipoise.store.database import Store
from equipoise.store.records import Checkpoint, Run, new_run_id

RIVAL = "probability-ensemble"
"""References for every server, beside the best client and the probe; other predictors have runs of their own."""


@dataclass(frozen=True)
class Server:
    """A merge, a predictor and its common features; None keeps the run's own."""

    merge: str | None = None
    predict: str | None = None
    common: str | None = None

    def on(self, config: Config) -> Config:
        """The configuration with this server."""
        given = {"merge": self.merge, "predict": self.predict, "common": self.common}
        chosen = {key: value for key, value in given.items() if value is not None}
        name = "-".join([config.name, *chosen.values()])
        return check(config.model_dump() | {"name": name, "server": config.server.model_dump() | chosen})


def servers_of(run: Run, merges: Sequence[str], predicts: Sequence[str], common: str | None = None) -> list[Server]:
    """Every pair of the two, with these common features; `all` stands for every predictor that the method allows."""
    config = check(run.config)
    names: Sequence[str | None] = predicts or (None,)
    if "all" in names:
        names = [entry.name for entry in PREDICTS if _is_possible(Server(predict=entry.name), config)]
    return [Server(merge, predict, common) for merge, predict in product(merges or (None,), names)]


def _is_possible(server: Server, config: Config) -> bool:
    try:
        resolve(server.on(config))
    except ConfigError:
        return False
    return True


@dataclass(frozen=True)
class Stored:
    """The trained clients of a finished run, and what is needed to score them."""

    run: Run
    checkpoint: Checkpoint
    step: int
    """The step of the clients' state: the last checkpoint, or the best one of a run that stopped early."""
    clients: Mapping[int, ClientState]
    federation: Federation
    predictions: PredictionCache
    engine: Engine
    """The engine in which clients answer servers' questions."""
    folder: Path | None

    def close(self) -> None:
        self.engine.close()


def fuse(store: Store, run: Run, servers: Sequence[Server], data_path: Path | None = None) -> list[str]:
    """The ids of the fused runs, in the order of the servers."""
    config = here(check(run.config))
    if LABELS not in config.kind.offers:
        what = f"run '{run.run_id}' learns from {config.kind.name}, and there is no other way to predict"
        raise ConfigError(
            what, where="data", fix="add users' sums to the model's scores: `equipoise fuse RUN --sums blend`"
        )
    if resolve(config).exchange.sums is not None:
        what = f"the server of run '{run.run_id}' added up what its clients sent, and kept the total's head only"
        raise ConfigError(
            what, where="method", fix="fuse works on runs whose clients train; run it with other settings"
        )
    wanted = [server.on(config) for server in servers]
    for other in wanted:
        resolve(other)  # every wrong request is refused before anything is loaded
    content = run.environment["content"]
    known: dict[str, str] = {}
    for other in wanted:
        done = [found for found in runs_of(store, other) if (found.status, found.version) == ("done", run.version)]
        known |= {other.fingerprint(): found.run_id for found in done if found.environment["content"] == content}
    missing = {other.fingerprint(): other for other in wanted if other.fingerprint() not in known}
    for features in dict.fromkeys(other.server.common for other in missing.values()):
        alike = {key: other for key, other in missing.items() if other.server.common == features}
        with closing(load_clients(store, run, Server(common=features).on(config), data_path)) as stored:
            known |= {key: fuse_one(store, stored, other) for key, other in alike.items()}
    return [known[other.fingerprint()] for other in wanted]


def require_finished(run: Run) -> None:
    if run.status != "done" or run.version != __version__:
        state = f"is {run.status}" if run.status != "done" else f"was made by version {run.version}"
        fix = "`equipoise resume` it, or start a new run"
        raise ConfigError(f"run '{run.run_id}' {state}: fuse needs one that this version has finished", fix=fix)


def load_clients(store: Store, run: Run, config: Config, data_path: Path | None) -> Stored:
    """The clients of a run, to be scored as `config` says."""
    require_finished(run)
    checkpoint = read.checkpoints(store, run.run_id)[0]
    snapshot = unpack({name: blobs.get(store, digest) for name, digest in checkpoint.manifest.items()})
    own, step = (snapshot.own, checkpoint.step) if snapshot.best is None else (snapshot.best.own, snapshot.best.step)
    if not any(state.model for state in own.values()):
        what = f"run '{run.run_id}' sent its model back to the clients each round: their own models were not kept"
        raise ConfigError(what, where="communication", fix="fuse works on communication=one-shot runs")
    folder = folder_of(run, data_path)
    federation = build(config, folder)
    require_same_data(run, federation, folder)
    prepare(federation.config.engine)
    judge = federation.judge
    assert isinstance(judge, SampleJudge), "only labelled samples have ways to predict"
    return Stored(
        run,
        checkpoint,
        step,
        own,
        federation,
        PredictionCache(judge.evaluator, own),
        make_engine(federation.site),
        folder,
    )


def fuse_one(store: Store, stored: Stored, config: Config, member: Membership = ALONE) -> str:
    """Score one server, and store it as a run of one checkpoint; returns its id."""
    federation = replace(stored.federation, config=config, method=resolve(config))
    run_id, step = new_run_id(config.name), stored.step
    server, merged = merge_latest(federation, stored.clients)
    clients = chosen_clients(merged.clients, config.evaluate.clients, config.seed, step)
    predict = federation.method.predict
    names = {str(predict), RIVAL}
    answers = ask(stored.engine, federation.roster, merged, questions_of(names if predict else ()), step)
    scores = prototype_scores(merged) | score(stored.predictions, predict, merged, clients, answers)
    scores |= beside(stored.predictions, merged, answers, names)
    scores |= uploaded(store, stored.run, scores)
    packed = pack(Snapshot(server)) | pack_pictures(pictures(stored.predictions, merged, clients))
    text = f"clients of run {stored.run.run_id} after checkpoint {step + 1}; nothing was trained"
    with write.hold(store, run_id), blobs.referring(store):
        announce(store, run_id, Request(config, stored.folder), federation, member)
        rows, event = rows_of(federation, scores, step), Event("fused", text, detail={"from": stored.run.run_id})
        manifest = {**stored.checkpoint.manifest, **{name: blobs.put(store, data) for name, data in packed.items()}}
        write.commit_step(store, run_id, step, rows, [event, *stored.engine.take_events()], manifest)
        write.finish(store, run_id, "done")
    look_back(store, run_id)
    return run_id


def uploaded(store: Store, run: Run, scores: Scores) -> Scores:
    """The traffic of a one-upload run that had used this server from the start."""
    last = read.final_metrics(store, run.run_id)
    found: Scores = {}
    for way, predicting in ((DOWN, ASKED), (UP, ANSWERED)):
        total = sum(row.value for row in read.rows(store, run.run_id, names=[way[1]], client="server"))
        counted = last.get(predicting[1], 0.0) if ASKED[1] in last else 0.0  # older versions left it out of the total
        found[way] = total - counted + scores[predicting]
    return found
