"""One line per run, for lists of any length: a page of runs costs a few queries, however many runs there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel
from sqlalchemy import and_, func, select

from equipoise.diagnose.finding import SEVERITIES
from equipoise.store.metrics import OWNER, SERVER_KEY
from equipoise.store.records import Run
from equipoise.store.tables import checkpoints, findings, metrics
from equipoise.store.tables import runs as run_table
from equipoise.store.transact import Store, reading

Z = 1.959964
"""Quantile of the normal distribution for 95 %."""


class RunLine(BaseModel):
    """One run in a list. `low` and `high` bound the value with 95 % confidence, where that is known."""

    run_id: str
    name: str
    status: str
    method: str
    data: str
    seed: int
    sweep: str | None
    cell: str | None
    created: str
    error: str | None
    done: int
    """Checkpoints done."""
    planned: int | None
    metric: str
    value: float | None
    low: float | None
    high: float | None
    severity: str
    """Of the worst finding; empty if there is none."""
    now: dict[str, Any] | None
    """How a run that goes on stands."""


def lines(store: Store, runs: Sequence[Run], now: Mapping[str, dict[str, Any]]) -> list[RunLine]:
    ids = [run.run_id for run in runs]
    steps, values, severities = _steps(store, ids), _values(store, ids), _severities(store, ids)
    return [_line(run, steps.get(run.run_id), values, severities.get(run.run_id, ""), now) for run in runs]


def wilson(share: float, n: int) -> tuple[float, float]:
    """The interval of a share of n test samples.

        (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n)

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.

    >>> [round(bound, 3) for bound in wilson(0.9, 100)]
    [0.826, 0.945]
    """
    middle, width = share + Z**2 / (2 * n), Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return float((middle - width) / (1 + Z**2 / n)), float((middle + width) / (1 + Z**2 / n))


def _line(
    run: Run,
    step: int | None,
    values: Mapping[tuple[str, str], float],
    severity: str,
    now: Mapping[str, dict[str, Any]],
) -> RunLine:
    value, tested = values.get((run.run_id, run.headline)), run.environment.get("tested")
    low, high = (values.get((run.run_id, f"{run.headline}/{end}")) for end in ("low", "high"))
    if low is None and value is not None and tested and run.headline.startswith("accuracy/") and 0 <= value <= 1:
        low, high = wilson(value, int(tested))
    return RunLine(
        **{key: getattr(run, key) for key in ("run_id", "name", "status", "method", "seed", "sweep", "cell")},
        created=run.created,
        error=run.error,
        data=str(run.config.get("data", {}).get("name")),
        done=0 if step is None else step + 1,
        planned=run.config.get("rounds") or run.config.get("checkpoints"),
        metric=run.headline,
        value=value,
        low=low,
        high=high,
        severity=severity,
        now=now.get(run.run_id),
    )


def _steps(store: Store, ids: Sequence[str]) -> dict[str, int]:
    table = checkpoints.c
    query = select(table.run_id, func.max(table.step).label("step")).where(table.run_id.in_(ids)).group_by(table.run_id)
    with reading(store) as connection:
        return {row.run_id: row.step for row in connection.execute(query)}


def _values(store: Store, ids: Sequence[str]) -> dict[tuple[str, str], float]:
    """{(run, name): value} of the server at the last scored checkpoint: the headline and its bounds."""
    newest = select(func.max(metrics.c.step)).where(
        metrics.c.run_id == run_table.c.run_id, metrics.c.name == run_table.c.headline
    )
    last = select(run_table.c.run_id, run_table.c.headline, newest.scalar_subquery().label("step"))
    last_of = last.where(run_table.c.run_id.in_(ids)).subquery()
    names = metrics.c.name.in_([last_of.c.headline + end for end in ("", "/low", "/high")])
    at = and_(metrics.c.run_id == last_of.c.run_id, names, metrics.c.step == last_of.c.step, OWNER == SERVER_KEY)
    query = select(metrics.c.run_id, metrics.c.name, metrics.c.value).select_from(last_of).join(metrics, at)
    with reading(store) as connection:
        return {(run_id, name): value for run_id, name, value in connection.execute(query)}


def _severities(store: Store, ids: Sequence[str]) -> dict[str, str]:
    table = findings.c
    query = select(table.run_id, table.severity).where(table.run_id.in_(ids)).distinct()
    found: dict[str, str] = {}
    with reading(store) as connection:
        for run_id, severity in connection.execute(query):
            known = found.get(run_id, severity)
            found[run_id] = max(known, severity, key=SEVERITIES.index)
    return found
