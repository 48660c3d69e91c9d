"""One sweep while it goes on: a row per configuration, a cell per seed, and the comparison of what is done.

Of a search, every trial shows what validation says of it; only the chosen trial is compared on test.
"""

from __future__ import annotations

import math
from statistics import fmean, stdev

from pydantic import BaseModel

from equipoise.core.errors import NoSuchRun
from equipoise.dashboard.listing import RunLine, lines
from equipoise.dashboard.view import Dashboard, Visitor
from equipoise.report import table
from equipoise.report.comparison import Comparison, compare
from equipoise.report.layout import results
from equipoise.report.runs import compared
from equipoise.report.words import words
from equipoise.store import read
from equipoise.store.metrics import last_recorded, values_at
from equipoise.store.records import Run
from equipoise.store.searches import searches
from equipoise.store.validation import validation_metric


class SweepLine(BaseModel):
    """Runs that differ only in their seed; mean and deviation are of those that are done."""

    label: str
    runs: list[RunLine]
    n_done: int
    mean: float | None
    std: float | None


class ShownTable(BaseModel):
    columns: list[str]
    rows: list[list[str]]
    notes: list[str]


class SweepPage(BaseModel):
    name: str
    rows: list[SweepLine]
    counts: dict[str, int]
    is_search: bool
    """Whether values are on validation."""
    comparison: ShownTable | None
    """None until something is done and compared."""


def sweep_page(board: Dashboard, name: str, visitor: Visitor) -> SweepPage:
    runs, labels = _runs(board, name)
    found = lines(board.store, runs, board.now(runs))
    is_search = name in {search.sweep for search in searches(board.store)}
    if is_search:
        found = [_on_validation(board, run, line) for run, line in zip(runs, found, strict=True)]
        chosen = {run_id for _, run_id in read.members(board.store, name)}
        runs = [run for run in runs if run.run_id in chosen]
    rows: dict[str, list[RunLine]] = {}
    for line in sorted(found, key=lambda line: line.seed):
        rows.setdefault(labels[line.run_id], []).append(line)
    order = sorted(rows, key=lambda label: min(line.created for line in rows[label]))
    counts: dict[str, int] = {}
    for line in found:
        counts[line.status] = counts.get(line.status, 0) + 1
    return SweepPage(
        name=name,
        rows=[_row(label, rows[label]) for label in order],
        counts=counts,
        is_search=is_search,
        comparison=_comparison(board, name, runs, labels, visitor.language),
    )


def _runs(board: Dashboard, name: str) -> tuple[list[Run], dict[str, str]]:
    """The runs of a sweep, with their labels: from its table, or as they said at the start."""
    members = {run_id: label for label, run_id in read.members(board.store, name)}
    started = {run.run_id: run for run in read.runs(board.store, sweep=name)}
    started |= {run_id: read.find_run(board.store, run_id) for run_id in members if run_id not in started}
    if not started:
        fix = "the list of runs names the sweeps"
        raise NoSuchRun(f"there is no sweep '{name}'", where=board.store.location, fix=fix)
    labels = {run_id: members.get(run_id) or run.cell or run.name for run_id, run in started.items()}
    return list(started.values()), labels


def _on_validation(board: Dashboard, run: Run, line: RunLine) -> RunLine:
    metric = validation_metric(run)
    step = last_recorded(board.store, run.run_id, metric)
    values = [] if step is None else values_at(board.store, run.run_id, [metric], [step])
    value = values[0][3] if values else None
    return line.model_copy(update={"metric": metric, "value": value, "low": None, "high": None})


def _row(label: str, runs: list[RunLine]) -> SweepLine:
    values = [run.value for run in runs if run.status == "done" and run.value is not None and math.isfinite(run.value)]
    mean, std = fmean(values) if values else None, stdev(values) if len(values) > 1 else None
    return SweepLine(label=label, runs=runs, n_done=len(values), mean=mean, std=std)


def _comparison(
    board: Dashboard, name: str, runs: list[Run], labels: dict[str, str], language: str
) -> ShownTable | None:
    done = [run for run in runs if run.status == "done"]
    if not done:
        return None
    due = tuple(sorted(run.run_id for run in done))
    ordered = sorted(done, key=lambda run: run.created)

    def work() -> ShownTable | None:
        return shown(compare(compared(board.store, ordered, labels), language), language)

    return board.background.answer((f"sweep:{name}", language), due, work, None)


def shown(comparison: Comparison, language: str) -> ShownTable:
    """The table of the report, as text."""
    say, found = words(language), results(comparison)
    return ShownTable(
        columns=[say(f"column_{name}") for name in found.columns],
        rows=[[cell.text for cell in row] for row in found.rows],
        notes=table.remarks(comparison, language),
    )
