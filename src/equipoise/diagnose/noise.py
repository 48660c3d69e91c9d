"""How much a curve jumps from one checkpoint to the next without going anywhere.

    jitter = √(mean of (x_{t−1} − 2x_t + x_{t+1})² / 6)

Second differences do not see a trend; of independent noise of deviation σ they have deviation √6·σ. Jumps count, so a
curve that jumps about is given more room. Source: ours.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from equipoise.core.values import Floats
from equipoise.diagnose.recording import Curve


def jitter(values: Floats) -> float:
    """The deviation of one checkpoint; 0 where there are fewer than three.

    >>> jitter(np.array([0.0, 1.0, 2.0, 3.0]))
    0.0
    """
    if len(values) < 3:
        return 0.0
    return float(sqrt(np.mean(np.diff(values, 2) ** 2) / 6))


def smooth(values: Floats, width: int) -> Floats:
    """Means of `width` neighbours; shorter curves are one mean."""
    width = min(width, len(values))
    return np.convolve(values, np.full(width, 1 / width), mode="valid") if width else values


def coarse(curve: Curve, most: int) -> Curve:
    """At most so many checkpoints, by means over equal parts of the curve."""
    if len(curve) <= most:
        return curve
    parts = np.array_split(np.arange(len(curve)), most)
    values = np.array([curve.values[part].mean() for part in parts])
    return Curve(curve.client, np.array([curve.steps[part[-1]] for part in parts]), values)
