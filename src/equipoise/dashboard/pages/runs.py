"""The list of runs: filtered, newest first, with what each has reached."""

from __future__ import annotations

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, func, or_, select

from equipoise.dashboard.listing import RunLine, lines
from equipoise.dashboard.view import Dashboard
from equipoise.store import read
from equipoise.store.records import STATUSES
from equipoise.store.tables import runs
from equipoise.store.transact import reading

PER_PAGE = 50
DERIVED = ("running", "killed")
"""Statuses that only a look at the process tells apart."""


class RunFilter(BaseModel):
    text: str = Field("", max_length=200, description="part of an id, a name, a method or a sweep")
    status: str = Field("", max_length=20)
    method: str = Field("", max_length=100)
    sweep: str = Field("", max_length=200)
    page: int = Field(1, ge=1, le=100_000)


class RunsPage(BaseModel):
    wanted: RunFilter
    runs: list[RunLine]
    n: int
    """Matching runs on all pages."""
    n_pages: int
    counts: dict[str, int]
    """Runs of the whole store by status."""
    methods: list[str]
    sweeps: list[str]
    store: str


def runs_page(board: Dashboard, wanted: RunFilter) -> RunsPage:
    counts, methods = _counts(board)
    if wanted.status in DERIVED:
        every, _ = read.matching(board.store, _conditions(wanted), limit=10_000)
        kept = [run for run in every if run.status == wanted.status]
        found, n = kept[(wanted.page - 1) * PER_PAGE :][:PER_PAGE], len(kept)
    else:
        start = (wanted.page - 1) * PER_PAGE
        found, n = read.matching(board.store, _conditions(wanted), limit=PER_PAGE, offset=start)
    return RunsPage(
        wanted=wanted,
        runs=lines(board.store, found, board.now(found)),
        n=n,
        n_pages=max(1, -(-n // PER_PAGE)),
        counts=counts,
        methods=methods,
        sweeps=read.sweeps(board.store),
        store=board.store.location,
    )


def _conditions(wanted: RunFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.text:
        columns = (runs.c.run_id, runs.c.name, runs.c.method, func.coalesce(runs.c.sweep, ""))
        found.append(or_(*(column.icontains(wanted.text, autoescape=True) for column in columns)))
    if wanted.status:
        found.append(runs.c.status == ("running" if wanted.status in DERIVED else wanted.status))
    if wanted.method:
        found.append(runs.c.method == wanted.method)
    if wanted.sweep:
        found.append(runs.c.sweep == wanted.sweep)
    return found


def _counts(board: Dashboard) -> tuple[dict[str, int], list[str]]:
    """Runs by status, those that were killed apart from those that go on; and the methods there are."""
    with reading(board.store) as connection:
        by_status = connection.execute(select(runs.c.status, func.count().label("n")).group_by(runs.c.status)).all()
        methods = list(connection.scalars(select(runs.c.method).distinct().order_by(runs.c.method)))
    counts = dict.fromkeys(STATUSES, 0) | {row.status: row.n for row in by_status}
    if counts["running"]:
        counts["killed"] = len(read.runs(board.store, status="killed"))
        counts["running"] -= counts["killed"]
    return counts, methods
