"""Turns recorded curves into lines of a chart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise.diagnose.recording import Curve
from equipoise.report.figure import ChartLine, thinned
from equipoise.report.palette import PALETTE

MOST_POINTS = 300
"""Points per line; a chart has no room for more."""
OWN_LINES = len(PALETTE)
"""Up to this number of clients, every client has a line and a colour."""


def line(name: str, curve: Curve, is_dashed: bool = False) -> ChartLine:
    kept = thinned(len(curve), MOST_POINTS)
    return ChartLine(name, (curve.steps[kept] + 1).tolist(), curve.values[kept].tolist(), is_dashed=is_dashed)


def client_places(clients: Sequence[int]) -> list[int]:
    """Indices of clients in the palette: their numbers, so that colours persist, unless two would be equal.

    >>> client_places([0, 3]), client_places([0, 40])
    ([0, 3], [0, 1])
    """
    return list(clients) if max(clients) < OWN_LINES else list(range(len(clients)))


def extremes(names: tuple[str, str], curves: Sequence[Curve]) -> list[ChartLine]:
    """The lowest and the highest client at every checkpoint."""
    at = np.concatenate([curve.steps for curve in curves])
    values = np.concatenate([curve.values for curve in curves])
    steps = np.unique(at)
    kept = steps[thinned(len(steps), MOST_POINTS)]
    ends = (np.array([pick(values[at == step]) for step in kept]) for pick in (np.min, np.max))
    return [
        ChartLine(name, (kept + 1).tolist(), end.tolist(), is_dashed=True)
        for name, end in zip(names, ends, strict=True)
    ]


def middle(name: str, curves: Sequence[Curve]) -> ChartLine:
    """The median of clients at every checkpoint, in a band from their 10th to their 90th percentile."""
    steps = np.unique(np.concatenate([curve.steps for curve in curves]))
    kept = steps[thinned(len(steps), MOST_POINTS)]
    at = np.concatenate([curve.steps for curve in curves])
    values = np.concatenate([curve.values for curve in curves])
    found = np.array([np.quantile(values[at == step], (0.1, 0.5, 0.9)) for step in kept])
    low, mid, high = found.T.tolist()
    return ChartLine(name, (kept + 1).tolist(), mid, low, high)
