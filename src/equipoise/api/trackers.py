"""Sends stored runs to trackers, and takes the runs of other tools into the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.api.choose import AnyRun, chosen_runs, named
from equipoise.api.handle import RunHandle
from equipoise.api.place import StoreAt, existing, located
from equipoise.core.errors import Problem, UnknownName

if TYPE_CHECKING:
    from equipoise.track.adopt import Adopted
    from equipoise.track.backfill import SentRun
    from equipoise.track.history import WantedRuns


def send(
    runs: AnyRun | Iterable[AnyRun] | None = None,
    to: str = "mlflow",
    settings: Mapping[str, Any] | None = None,
    *,
    sweep: str | None = None,
    store: StoreAt = None,
) -> list[SentRun]:
    """Send stored runs to a tracker: "mlflow", "wandb" or "tensorboard". What it has already is not sent again.

    Args:
        runs: runs, their ids, the beginnings of ids, or "latest".
        to: the tracker.
        settings: its settings, as in {"uri": "http://127.0.0.1:5000"}; otherwise those that the run was started with.
        sweep: all finished runs of this sweep.
        store: where to look for the ids.

    Raises:
        TrackerError: the tracker cannot be reached, or refused what it was sent.
    """
    from equipoise.config.track import TRACKERS
    from equipoise.core.registry import suggestion
    from equipoise.track.backfill import send_run

    if to not in TRACKERS:
        raise UnknownName([Problem("to", f"tracker '{to}' is not known{suggestion(to, list(TRACKERS))}")])
    ids, place = named(runs, store)
    with existing(place) as opened:
        return [send_run(opened, run, to, settings or {}) for run in chosen_runs(opened, ids, sweep).runs]


def import_runs(
    source: str | Path | Mapping[str, Any],
    *,
    name: str | None = None,
    run: str | None = None,
    experiment: str | None = None,
    headline: str | None = None,
    facts: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    store: StoreAt = None,
) -> list[RunHandle]:
    """Take the runs of another tool into the store, as finished runs that are marked as imported.

    Args:
        source: a table (CSV, TSV, JSON lines, Parquet), Flower's history as JSON or as a mapping, an event file or a
            folder of them, an MLflow folder or database file, or the address of an MLflow server.
        name: what the runs are called; otherwise what the source calls them.
        run: only the run of this id or name.
        experiment: of MLflow, only the runs of this experiment.
        headline: the metric that tables show; otherwise the server's accuracy, if there is one.
        facts: facts that the numbers do not show, as in {"classes": 10}; the rules of `diagnose` read them.
        names: renames metrics, from their names to ours.
        store: the store that takes them.

    Returns:
        The runs, also those that the store had already.
    """
    from equipoise.track.history import WantedRuns

    wanted = WantedRuns(name, run, experiment, headline, facts or {}, names or {})
    return [RunHandle(each.run_id, located(store)) for each in adopted(source, wanted, store)]


def adopted(source: Any, wanted: WantedRuns, store: StoreAt) -> list[Adopted]:
    """The same, with what happened to each run."""
    from equipoise.store.database import open_store
    from equipoise.track.adopt import adopt

    with open_store(store) as opened:
        return adopt(opened, source, wanted)
