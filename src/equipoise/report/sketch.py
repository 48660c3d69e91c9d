"""Sparklines for the terminal: accuracy and λ over the checkpoints, one line per row of a comparison.

    accuracy = the headline metric        λ = mean over clients of lam/used

Lines are means over the seeds; the table shows their spread.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from equipoise.store import metrics, read
from equipoise.store.transact import Store

USED = "lam/used"
BARS = "▁▂▃▄▅▆▇█"
Points = list[dict[str, Any]]
"""{line, seed, checkpoint, value}"""


def points(store: Store, labels: Mapping[str, str]) -> tuple[Points, Points]:
    """Accuracy and λ of the runs with these ids, by label; a run without λ adds none."""
    accuracy: Points = []
    lam: Points = []
    for run_id, label in labels.items():
        run = read.find_run(store, run_id)
        seen: dict[int, list[float]] = {}
        for row in metrics.rows(store, run_id, names=[run.headline, USED]):
            at = {"line": label, "seed": run.seed, "checkpoint": row.step + 1}
            if row.name == run.headline and row.client is None:
                accuracy.append({**at, "value": row.value})
            elif row.name == USED:
                seen.setdefault(row.step, []).append(row.value)
        lam += [
            {"line": label, "seed": run.seed, "checkpoint": step + 1, "value": fmean(values)}
            for step, values in seen.items()
        ]
    return accuracy, lam


def means(found: Points, line: str) -> list[float]:
    """The mean over seeds at every checkpoint, in order."""
    by_step: dict[int, list[float]] = {}
    for point in found:
        if point["line"] == line:
            by_step.setdefault(point["checkpoint"], []).append(point["value"])
    return [fmean(by_step[step]) for step in sorted(by_step)]


def sketch(found: Points, line: str) -> str:
    """The mean over seeds as a sparkline between its lowest and highest value: ▁▃▆█."""
    values = means(found, line)
    if not values:
        return ""
    low, high = min(values), max(values)
    share = [(value - low) / (high - low) if high > low else 0.5 for value in values]
    return "".join(BARS[round(part * (len(BARS) - 1))] for part in share)
