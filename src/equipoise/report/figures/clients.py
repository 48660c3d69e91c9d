"""Heatmaps with clients as rows and checkpoints as columns, for what hundreds of curves would hide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from equipoise.diagnose.recording import Curve
from equipoise.report.figure import Heatmap, thinned
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

MOST_COLUMNS, MOST_ROWS = 40, 100
FILLED = 0.1
"""Smaller heatmaps are not informative and are left out."""
SHOWN = (("client-accuracy", "accuracy/test", "accuracy"), ("client-loss", "loss/base", "loss"))


def clients(source: FigureSource, say: Say) -> Iterator[Heatmap]:
    for key, name, measure in SHOWN:
        curves = source.recording.clients(name)
        if curves:
            grid = _grid(curves, key, say(measure), say)
            if np.isfinite(grid.values).mean() >= FILLED:
                yield grid


def _grid(curves: Sequence[Curve], key: str, measure: str, say: Say) -> Heatmap:
    """Means over columns of equal width; NaN where a client recorded nothing."""
    shown = [curves[i] for i in thinned(len(curves), MOST_ROWS)]
    steps = 1 + max(int(curve.steps[-1]) for curve in curves)
    width = -(-steps // MOST_COLUMNS)
    n_columns = -(-steps // width)
    values = np.full((len(shown), n_columns), np.nan)
    for row, curve in enumerate(shown):
        column = curve.steps // width
        n = np.bincount(column, minlength=n_columns)
        values[row, n > 0] = (np.bincount(column, curve.values, n_columns) / np.maximum(n, 1))[n > 0]
    some = np.isfinite(values).any(axis=0)
    notes = [
        say("thinned_clients", shown=len(shown), n=len(curves)) if len(shown) < len(curves) else "",
        say("binned", width=width) if width > 1 else "",
    ]
    return Heatmap(
        key=key,
        x=say("step"),
        y=say("client"),
        columns=[str(c * width + 1) for c in np.flatnonzero(some)],
        rows=[str(curve.client) for curve in shown],
        values=values[:, some],
        measure=measure,
        is_share=key == "client-accuracy",
        note=" ".join(filter(None, notes)),
    )
