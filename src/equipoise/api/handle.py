"""A stored run in Python: its configuration, metrics, events and findings, and the actions on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.api.place import existing
from equipoise.core.errors import EquipoiseError

if TYPE_CHECKING:
    import polars as pl
    from torch import nn

    from equipoise.api.figures import Picture
    from equipoise.api.fuse import FusedRuns
    from equipoise.api.partition import PartitionView
    from equipoise.api.progress import ProgressOf
    from equipoise.config.schema import Config
    from equipoise.diagnose.finding import Finding
    from equipoise.store.metrics import Who
    from equipoise.store.records import Run, Status
    from equipoise.store.transact import Store


@dataclass(frozen=True)
class RunHandle:
    """One run of a store. Everything is read on access, so a running run can be watched."""

    id: str
    """As in `equipoise ls`."""
    store: str
    """The file or URL of its store."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Its store, open for reading and writing."""

        with existing(self.store) as store:
            yield store

    @property
    def place(self) -> str:
        """Its store, for people: a path, or a URL without its password."""
        with self.opened() as store:
            return store.location

    @property
    def record(self) -> Run:
        """The run's record in the store: name, seed, version, times, error, environment."""
        from equipoise.store.read import find_run

        with self.opened() as store:
            return find_run(store, self.id)

    @property
    def status(self) -> Status:
        """ "done", "running", "stopped", "failed" or "killed"."""
        return self.record.status

    @property
    def config(self) -> Config:
        """The resolved configuration; `eq.run(run.config, seed=2)` trains it again with another seed."""
        from equipoise.config.check import check
        from equipoise.store.records import refuse_imported

        run = self.record
        refuse_imported(run, "that could be trained again")
        return check(run.config)

    @property
    def headline(self) -> str:
        """The name of the metric that tables show for this run."""
        return self.record.headline

    @property
    def value(self) -> float | None:
        """The headline metric at the last checkpoint; None before it was scored."""
        from equipoise.store.metrics import final_metrics

        with self.opened() as store:
            return final_metrics(store, self.id).get(self.headline)

    def metrics(self, *names: str, client: Who = "everyone") -> pl.DataFrame:
        """Every recorded number, tidy: step, round, client (null is the server), name, value.

        Args:
            names: only these metrics; `docs/reference/metrics.md` explains them.
            client: a client's number, "server", or "everyone".
        """
        from equipoise.store.metrics import metrics

        with self.opened() as store:
            return metrics(store, self.id, names=names, client=client).drop("run_id")

    def clients(self) -> pl.DataFrame:
        """The clients: client, samples, labels (how many samples of each class)."""
        import polars as pl

        from equipoise.store.read import clients

        with self.opened() as store:
            rows = [(each.client, each.samples, list(each.labels)) for each in clients(store, self.id)]
        return pl.DataFrame(
            rows, schema={"client": pl.Int64, "samples": pl.Int64, "labels": pl.List(pl.Int64)}, orient="row"
        )

    @property
    def events(self) -> pl.DataFrame:
        """What happened beside the numbers, oldest first: time, kind, step, client, message."""
        import polars as pl

        columns = {"time": pl.String, "kind": pl.String, "step": pl.Int64, "client": pl.Int64, "message": pl.String}
        rows = [[event[name] for name in columns] for event in self.summary()["events"]]
        return pl.DataFrame(rows, schema=columns, orient="row")

    @property
    def findings(self) -> list[Finding]:
        """What the diagnosis at the end of the run found, the most severe first; `eq.diagnose(run)` examines anew."""
        from equipoise.diagnose.finding import Finding
        from equipoise.store.read import findings

        with self.opened() as store:
            return [Finding(**body) for body in findings(store, self.id)]

    @property
    def partition(self) -> PartitionView:
        """The partition: which client owned which samples."""
        from equipoise.api.partition import stored_partition

        with self.opened() as store:
            return stored_partition(store, self.record)

    def figures(self, language: str = "en") -> list[str]:
        """The names of the figures for which the run recorded enough."""
        from equipoise.api.figures import figures

        return list(figures(self, language))

    def figure(self, name: str = "accuracy", language: str = "en") -> Picture:
        """A figure of the report as an Altair chart."""
        from equipoise.api.figures import figure

        return figure(self, name, language)

    def summary(self) -> dict[str, Any]:
        """Everything about the run, as `equipoise show --json` prints it."""
        from equipoise.report.runs import shown

        with self.opened() as store:
            return shown(store, self.record)

    def show(self) -> None:
        """Print the run as `equipoise show` does."""
        from equipoise.api.summary import print_run

        print_run(self)

    def to_yaml(self) -> str:
        """The configuration as a preset: `equipoise run FILE` trains it again."""
        from equipoise.config.loader import dump_yaml

        return dump_yaml(self.record.config)

    def resume(
        self, *, rounds: int | str | None = None, path: str | Path | None = None, progress: ProgressOf = None
    ) -> RunHandle:
        """Resume the run: see `eq.resume`."""
        from equipoise.api.train import resume

        return resume(self, rounds=rounds, path=path, progress=progress)

    def fuse(
        self, *, merge: str | list[str] | None = None, predict: str | list[str] | None = None, path: Path | None = None
    ) -> FusedRuns:
        """Score other servers on its trained clients: see `eq.fuse`."""
        from equipoise.api.fuse import fuse

        return fuse(self, merge=merge, predict=predict, path=path)

    def model(self, *, client: int | None = None, path: str | Path | None = None) -> nn.Module:
        """The trained model as a PyTorch module: it takes stored samples (images as uint8) and returns probabilities.

        Args:
            client: this client's own model; otherwise the server's predictor.
            path: the data folder, if it has moved.
        """
        from equipoise.deploy.parts import model_of

        with self.opened() as store:
            return model_of(store, self.record, client, Path(path) if path is not None else None)

    def report(self, path: str | Path = "report.html", *, language: str = "en") -> Path:
        """Write its report: see `eq.report`."""
        from equipoise.api.report import report

        return report(self, path, language=language)

    def __repr__(self) -> str:
        try:
            run, value = self.record, self.value
        except EquipoiseError as error:
            return f"<run {self.id}: {error.what}>"
        figure = "" if value is None else f", {run.headline} {100 * value:.2f} %"
        return f"<run {self.id}: {run.status}{figure}>"

    def _repr_html_(self) -> str:
        from equipoise.api.cards import run_card

        return run_card(self.summary())
