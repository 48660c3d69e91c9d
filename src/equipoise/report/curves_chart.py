"""How a comparison went: accuracy and λ over the checkpoints, one line per row of the table.

    accuracy = the headline metric        λ = mean over clients of lam/used

Lines are means over the seeds; how far seeds lie apart stands in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from equipoise.store import metrics, read
from equipoise.store.transact import Store

USED = "lam/used"
BARS = "▁▂▃▄▅▆▇█"
Points = list[dict[str, Any]]
"""{line, seed, checkpoint, value}"""


def points(store: Store, labels: Mapping[str, str]) -> tuple[Points, Points]:
    """Accuracy and λ of runs by id, under their labels; a run without a λ gives none."""
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


def chart(accuracy: Points, lam: Points, title: str) -> alt.VConcatChart:
    order = list(dict.fromkeys(point["line"] for point in accuracy))
    heading = alt.TitleParams(title, anchor="start", offset=12)
    panels = [_panel(accuracy, "accuracy", order, alt.Axis(format="~%"), alt.Scale(zero=False))]
    above_zero = [point for point in lam if point["value"] > 0]
    if above_zero:
        panels.append(_panel(above_zero, "λ used", order, alt.Axis(format="~g"), alt.Scale(type="log")))
    picture: alt.VConcatChart = alt.vconcat(*panels, title=heading).configure_view(strokeWidth=0)
    return picture


def _panel(found: Points, title: str, order: Sequence[str], axis: alt.Axis, scale: alt.Scale) -> alt.Chart:
    colour = alt.Scale(scheme="tableau10", domain=list(order))
    lines = alt.Chart(alt.InlineData(values=found)).mark_line(point=alt.OverlayMarkDef(size=18))
    panel: alt.Chart = lines.encode(
        x=alt.X("checkpoint:Q", axis=alt.Axis(tickMinStep=1, format="d", grid=False)),
        y=alt.Y("mean(value):Q", title=title, axis=axis, scale=scale),
        color=alt.Color("line:N", title=None, scale=colour),
    ).properties(width=460, height=220)
    return panel


def means(found: Points, line: str) -> list[float]:
    """A line's mean over seeds at every checkpoint, in order."""
    by_step: dict[int, list[float]] = {}
    for point in found:
        if point["line"] == line:
            by_step.setdefault(point["checkpoint"], []).append(point["value"])
    return [fmean(by_step[step]) for step in sorted(by_step)]


def sketch(found: Points, line: str) -> str:
    """The mean over seeds as a row of bars, from its lowest to its highest: ▁▃▆█."""
    values = means(found, line)
    if not values:
        return ""
    low, high = min(values), max(values)
    share = [(value - low) / (high - low) if high > low else 0.5 for value in values]
    return "".join(BARS[round(part * (len(BARS) - 1))] for part in share)
