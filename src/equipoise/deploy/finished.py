"""The final state of a finished run: the merged result, and the clients it was merged from.

Weights come from the store. Class names, normalisation and clients' answers come from the data, which is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from equipoise import __version__
from equipoise.config.check import check
from equipoise.config.traits import LABELS, ONE_MODEL
from equipoise.core.errors import ConfigError, DataError
from equipoise.core.registry import PREDICTS
from equipoise.core.values import ClientState, ClientUpdate, State
from equipoise.models.twin import answering
from equipoise.run.advance import merge_latest
from equipoise.run.announce import folder_of, require_same_data
from equipoise.run.build import Federation, build
from equipoise.run.checkpoint import unpack, unpack_uploads
from equipoise.run.guard import healed
from equipoise.run.placed import moved
from equipoise.run.state import Snapshot
from equipoise.server.predict import Merged
from equipoise.store import blobs, read
from equipoise.store.database import Store
from equipoise.store.records import Run, refuse_imported

LAST, BEST = "last", "best by validation"


@dataclass(frozen=True)
class FinishedRun:
    run: Run
    federation: Federation
    snapshot: Snapshot
    uploads: Mapping[int, ClientState]
    """What clients sent in the last round, if it was kept."""
    last_step: int

    @property
    def step(self) -> int:
        """The step of the final state: the one that validation chose if it ended the run, otherwise the last."""
        return self.last_step if self.snapshot.best is None else self.snapshot.best.step

    @property
    def state(self) -> str:
        return LAST if self.snapshot.best is None else BEST

    @property
    def own(self) -> Mapping[int, ClientState]:
        """The clients' states at that step."""
        return self.snapshot.own if self.snapshot.best is None else self.snapshot.best.own

    def merged(self) -> Merged:
        """What the server predicts with."""
        if self.federation.carries and self.federation.method.exchange.sums is None:
            return merge_latest(self.federation, self.own)[1]
        best, now = self.snapshot.best, self.snapshot
        model, broadcast = (now.server.model, now.broadcast) if best is None else (best.model, best.broadcast)
        return Merged(model, [self._sender(client, sent) for client, sent in sorted(self._sent().items())], broadcast)

    def _sent(self) -> Mapping[int, ClientState]:
        predict = self.federation.method.predict
        if predict is None or ONE_MODEL in PREDICTS.find(predict).traits:
            return {}
        if not self.uploads or self.step != self.last_step:
            what = f"'{predict}' asks the clients' models of round {self.step + 1}, and run '{self.run.run_id}'"
            why = "kept only those of its last round" if self.uploads else "did not keep them"
            raise ConfigError(f"{what} {why}", where="server.predict", fix="run it again without evaluate.patience")
        return self.uploads

    def _sender(self, client: int, sent: ClientState) -> ClientUpdate:
        counts = self.federation.roster.counts(client).tolist()
        return ClientUpdate(client, sum(counts), sent.model, sent, {}, counts)

    def model_of_client(self, client: int) -> State:
        """A client's own model: the weights it kept, on top of those that the server sent."""
        kept = self.own[client].model if client in self.own else {}
        if not kept:
            mine = [number for number, own in sorted(self.own.items()) if own.model]
            has = f"those with one: {', '.join(map(str, mine))}" if mine else "nobody has: the merged model went back"
            what = f"client {client} of run '{self.run.run_id}' has no model of its own; {has}"
            raise ConfigError(what, where="client", fix="leave the client out, or name another")
        return answering(kept if self.federation.carries else {**self.merged().model, **kept})


def finished(store: Store, run: Run, data_path: Path | None = None) -> FinishedRun:
    """The final state; refused unless this version finished the run, on labelled samples, and the data is there."""
    refuse_imported(run, "that predicts")
    _require_finished(run)
    checkpoint = read.checkpoints(store, run.run_id)[0]
    kept = {name: blobs.get(store, digest) for name, digest in checkpoint.manifest.items()}
    config = healed(check(run.config), [recorded.event for recorded in read.events(store, run.run_id)])
    config = moved(config, "cpu")  # a model leaves as plain CPU tensors
    folder = folder_of(run, data_path)
    try:
        federation = build(config, folder)
    except DataError as error:
        what = f"the model of run '{run.run_id}' needs its data, for class names, normalisation and what clients answer"
        raise DataError(f"{what}: {error.what}", where=error.where, fix=error.fix) from error
    require_same_data(run, federation, folder)
    return FinishedRun(run, federation, unpack(kept), unpack_uploads(kept), checkpoint.step)


def _require_finished(run: Run) -> None:
    kind = check(run.config).kind
    if LABELS not in kind.offers:
        what = f"run '{run.run_id}' learns from {kind.name}: a recommender needs its users' histories and their items"
        raise ConfigError(what, where="data", fix="models of labelled samples can be taken out of their run")
    if run.status != "done":
        fix = f"`equipoise resume {run.run_id}` first"
        raise ConfigError(f"run '{run.run_id}' is {run.status}, and has no model yet", fix=fix)
    if run.version != __version__:
        what = f"run '{run.run_id}' was made by version {run.version}; this is {__version__}"
        raise ConfigError(f"{what}, whose networks may differ", fix="install that version, or start a new run")
