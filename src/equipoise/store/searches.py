"""Searches over settings: what is searched and how, and every trial with its outcome.

A trial is written when its settings are chosen, before anything runs, and again when it has ended. Nothing here comes
from the test set: a score is a figure of validation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Table, select, update
from sqlalchemy.dialects import postgresql, sqlite

from equipoise.core.errors import StoreError
from equipoise.store import tables
from equipoise.store.records import now
from equipoise.store.transact import Store, reading, writing

TrialState: TypeAlias = Literal["running", "done", "pruned", "failed"]


@dataclass(frozen=True)
class TrialRecord:
    """Settings that were tried: one run per random seed, and the mean of their scores on validation."""

    number: int
    settings: Mapping[str, Any]
    state: TrialState = "running"
    score: float | None = None
    """None unless every run is done."""
    seconds: float = 0.0
    """Of work; what a killed process had done is not in it."""
    runs: tuple[str, ...] = ()
    error: str | None = None

    @property
    def label(self) -> str:
        return f"trial {self.number}"

    @property
    def is_over(self) -> bool:
        return self.state != "running"


@dataclass(frozen=True)
class SearchRecord:
    sweep: str
    plan: Mapping[str, Any]
    """{space, sampler, pruner, seeds, search_seed, window}."""
    importance: Mapping[str, float]
    """The share of each setting in how the scores differ; empty until it was estimated."""
    created: str


def best_trial(trials: Sequence[TrialRecord]) -> TrialRecord | None:
    """The finished trial with the highest score; of equal ones the first."""
    done = [trial for trial in trials if trial.state == "done" and trial.score is not None]
    return max(done, key=lambda trial: (trial.score, -trial.number), default=None)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings in a line.

    >>> settings_text({"method.name": {"name": "fedprox", "mu": 0.1}, "client.lr": 0.01})
    'method=fedprox(mu=0.1) client.lr=0.01'
    """
    return " ".join(f"{key.removesuffix('.name')}={value_text(value)}" for key, value in settings.items())


def value_text(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    rest = ", ".join(f"{key}={value_text(inner)}" for key, inner in value.items() if key != "name")
    return f"{value.get('name', '')}({rest})"


def begin_search(store: Store, sweep: str, plan: Mapping[str, Any]) -> SearchRecord:
    """The search of that name, which begins now unless it has already."""
    row = {"sweep": sweep, "plan": dict(plan), "importance": {}, "created": now()}
    with writing(store) as connection:
        insert = _insert(connection.dialect.name, tables.searches).values(row)
        connection.execute(insert.on_conflict_do_nothing())
    return find_search(store, sweep)


def find_search(store: Store, sweep: str) -> SearchRecord:
    known = {each.sweep: each for each in searches(store)}
    if sweep not in known:
        fix = f"known: {', '.join(sorted(known))}" if known else "`equipoise sweep FILE --search optuna` makes one"
        raise StoreError(f"there is no search '{sweep}'", where=store.location, fix=fix)
    return known[sweep]


def searches(store: Store) -> list[SearchRecord]:
    with reading(store) as connection:
        rows = connection.execute(select(tables.searches).order_by(tables.searches.c.created)).mappings().all()
    return [SearchRecord(**row) for row in rows]


def set_importance(store: Store, sweep: str, importance: Mapping[str, float]) -> None:
    table = tables.searches
    with writing(store) as connection:
        connection.execute(update(table).where(table.c.sweep == sweep).values(importance=dict(importance)))


def put_trial(store: Store, sweep: str, trial: TrialRecord) -> None:
    """Write a trial, or write it anew."""
    row = {**asdict(trial), "sweep": sweep, "runs": list(trial.runs)}
    with writing(store) as connection:
        insert = _insert(connection.dialect.name, tables.trials).values(row)
        connection.execute(insert.on_conflict_do_update(index_elements=["sweep", "number"], set_=row))


def trials(store: Store, sweep: str) -> list[TrialRecord]:
    """In the order of their numbers."""
    table = tables.trials
    with reading(store) as connection:
        rows = connection.execute(select(table).where(table.c.sweep == sweep).order_by(table.c.number)).mappings().all()
    return [
        TrialRecord(
            **{key: value for key, value in row.items() if key not in {"sweep", "runs"}}, runs=tuple(row["runs"])
        )
        for row in rows
    ]


def search_of(store: Store, run_ids: Collection[str]) -> SearchRecord | None:
    """The newest search that one of these runs is a trial of."""
    wanted = set(run_ids)
    tried = {each.sweep: {run for trial in trials(store, each.sweep) for run in trial.runs} for each in searches(store)}
    found = [each for each in searches(store) if tried[each.sweep] & wanted]
    return found[-1] if found else None


def _insert(dialect: str, table: Table) -> Any:
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
