"""The noise of a curve: how much it jumps between checkpoints, apart from its trend.

    jitter = √(mean of (x_{t−1} − 2x_t + x_{t+1})² / 6)

Second differences cancel a linear trend; for independent noise of deviation σ their deviation is √6·σ. Rules compare a
drop with the jitter, so that a noisy curve needs a larger drop. Source: ours.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from equipoise.core.values import Floats
from equipoise.diagnose.recording import Curve


def jitter(values: Floats) -> float:
    """The noise deviation of one checkpoint; 0 with fewer than three checkpoints.

    >>> jitter(np.array([0.0, 1.0, 2.0, 3.0]))
    0.0
    """
    if len(values) < 3:
        return 0.0
    return float(sqrt(np.mean(np.diff(values, 2) ** 2) / 6))


def smooth(values: Floats, width: int) -> Floats:
    """Moving means over `width` checkpoints; a shorter curve gives one mean."""
    width = min(width, len(values))
    return np.convolve(values, np.full(width, 1 / width), mode="valid") if width else values


def coarse(curve: Curve, most: int) -> Curve:
    """The curve with at most `most` checkpoints, by means over equal parts."""
    if len(curve) <= most:
        return curve
    parts = np.array_split(np.arange(len(curve)), most)
    values = np.array([curve.values[part].mean() for part in parts])
    return Curve(curve.client, np.array([curve.steps[part[-1]] for part in parts]), values)
