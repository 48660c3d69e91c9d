"""Finds stored runs: one by its id, all of them, or those that were named or belong to a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from equipoise.api.handle import RunHandle
from equipoise.api.place import StoreAt, existing, located
from equipoise.core.errors import ConfigError, Problem, UnknownName

if TYPE_CHECKING:
    from equipoise.store.records import Run
    from equipoise.store.transact import Store

AnyRun: TypeAlias = RunHandle | str
"""A run, its id, the beginning of its id, or "latest"."""


def open_run(run: str = "latest", *, store: StoreAt = None) -> RunHandle:
    """A stored run by its id, the beginning of one, or "latest".

    Raises:
        NoSuchRun: there is none, or several begin like that.
    """
    from equipoise.store.read import find_run

    with existing(store) as opened:
        return RunHandle(find_run(opened, run).run_id, located(store))


def found(run: AnyRun, store: StoreAt = None) -> RunHandle:
    """A run, however it was named."""
    return run if isinstance(run, RunHandle) else open_run(run, store=store)


def runs(*, status: str | None = None, sweep: str | None = None, store: StoreAt = None) -> list[RunHandle]:
    """The stored runs, newest first: all, or those with a status ("done", "stopped" …) or of a sweep.

    Empty if the store does not exist yet.
    """
    return [RunHandle(line["run_id"], located(store)) for line in listed(status=status, sweep=sweep, store=store)]


def listed(
    *, status: str | None = None, sweep: str | None = None, limit: int | None = None, store: StoreAt = None
) -> list[dict[str, Any]]:
    """One line per run, newest first, as `equipoise ls --json` prints them."""
    from equipoise.store.database import default_location

    _require_status(status)
    if store is None and "://" not in default_location() and not Path(default_location()).exists():
        return []
    with existing(store) as opened:
        return _lines(opened, sweep, status, limit)


def _lines(store: Store, sweep: str | None, status: str | None, limit: int | None) -> list[dict[str, Any]]:
    from equipoise.report.runs import listed as line_of
    from equipoise.store import read

    members = {run_id for _, run_id in sweep_members(store, sweep)} if sweep is not None else None
    known = [run for run in read.runs(store) if status in (None, run.status)]
    kept = [run for run in known if members is None or run.run_id in members]
    sources = read.fused(store)
    return [{**line_of(store, run), "fused_from": sources.get(run.run_id)} for run in kept[:limit]]


def _require_status(status: str | None) -> None:
    from equipoise.core.registry import suggestion
    from equipoise.store.records import STATUSES

    if status is not None and status not in STATUSES:
        known = suggestion(status, list(STATUSES))
        raise UnknownName([Problem("--status", f"status '{status}' is not known{known}")])


class ChosenRuns(NamedTuple):
    """Runs in the order in which they were named, and their labels."""

    runs: list[Run]
    labels: dict[str, str]


def chosen_runs(store: Store, runs: Iterable[str] | None, sweep: str | None) -> ChosenRuns:
    """The runs that were named and those of the sweep, in order; with the sweep's labels by run id."""
    from equipoise.store import read

    labels = {run_id: label for label, run_id in sweep_members(store, sweep)} if sweep is not None else {}
    chosen = [read.find_run(store, run) for run in [*(runs or []), *labels]]
    if not chosen:
        raise ConfigError(_nothing(sweep), fix="name runs, or --sweep with a sweep that has finished runs")
    return ChosenRuns(list({run.run_id: run for run in chosen}.values()), labels)


def _nothing(sweep: str | None) -> str:
    return "no run was named" if sweep is None else f"no run of sweep '{sweep}' is done yet"


def sweep_members(store: Store, sweep: str) -> list[tuple[str, str]]:
    """(label, run id) of a sweep; an unknown name is an error that lists the known sweeps."""
    from equipoise.store import read

    known = read.sweeps(store)
    if sweep not in known:
        listed = f"; known: {', '.join(known)}" if known else "; there is none in this store"
        raise UnknownName([Problem("--sweep", f"sweep '{sweep}' is not known{listed}")], where=store.location)
    return read.members(store, sweep)


def named(runs: AnyRun | Iterable[AnyRun] | None, store: StoreAt) -> tuple[list[str], StoreAt]:
    """(the runs' ids, their store); runs of two stores cannot share a table."""
    given: Sequence[AnyRun] = [] if runs is None else [runs] if isinstance(runs, RunHandle | str) else list(runs)
    places = {run.store for run in given if isinstance(run, RunHandle)}
    if store is not None and any(isinstance(run, str) for run in given):
        places.add(located(store))
    if len(places) > 1:
        what = f"the runs are in {len(places)} stores: {', '.join(sorted(places))}"
        raise ConfigError(what, fix="give runs of one store")
    return [run.id if isinstance(run, RunHandle) else run for run in given], store or next(iter(places), None)
