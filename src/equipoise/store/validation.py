"""What validation says of a run. A search reads nothing else: the names here are the only numbers it asks for.

    score = headline on validation, at the state that is the run's result

The result is the last state, or the one that `environment["choice"]`, a metric on validation, liked best.
"""

from __future__ import annotations

import math

from equipoise.core.errors import ConfigError
from equipoise.store import metrics
from equipoise.store.records import Run
from equipoise.store.transact import Store

Curve = dict[int, float]
"""Step → value, over the scored checkpoints."""


def validation_metric(run: Run) -> str:
    """The headline's figure on validation."""
    return "accuracy/validation" if run.headline.startswith("accuracy/") else f"{run.headline}/validation"


def validation_curve(store: Store, run: Run) -> Curve:
    return _curve(store, run, validation_metric(run))


def validation_score(store: Store, run: Run) -> float:
    curve, choice = validation_curve(store, run), run.environment.get("choice")
    if not curve:
        what = f"run '{run.run_id}' recorded no {validation_metric(run)}, by which a search chooses"
        raise ConfigError(what, where="--search", fix="data with a validation split")
    liked = curve if choice is None else _curve(store, run, choice)
    step = max(curve) if choice is None else min(liked, key=lambda at: (-liked[at], at))
    score = curve.get(step, math.nan)
    if not math.isfinite(score):
        raise ConfigError(f"{validation_metric(run)} of run '{run.run_id}' is {score}", where="--search")
    return score


def _curve(store: Store, run: Run, name: str) -> Curve:
    return {row.step: row.value for row in metrics.rows(store, run.run_id, names=[name], client="server")}
