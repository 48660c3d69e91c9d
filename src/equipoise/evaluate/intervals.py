"""Confidence intervals of means over users: percentile intervals of the bootstrap.

    mean_b = 1/U·Σ_u x_{i_bu}, i_bu uniform over users, b = 1 … 2000        [2.5 % quantile, 97.5 % quantile] of mean_b

To compare two runs on the same users, x is the difference user by user: what makes a user hard affects both runs and
cancels. Source: Efron, Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.streams import stream
from equipoise.core.values import Floats

LEVEL = 0.95
AT_ONCE = 2**20
"""Number of draws that are held in memory at once."""


@dataclass(frozen=True)
class Interval:
    """A mean over users with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def bootstrap(values: Floats, seed: int, resamples: int = 2000) -> Interval:
    """The interval of one value per user; the same seed resamples the same users, whatever the values."""
    if not len(values):
        raise DataError("there is nobody to resample", where="bootstrap", fix="give one user or more")
    draw, n = stream(seed, "bootstrap"), len(values)
    rows = max(1, AT_ONCE // n)
    sizes = [min(rows, resamples - start) for start in range(0, resamples, rows)]
    means = np.concatenate([values[draw.integers(0, n, (size, n))].mean(1) for size in sizes])
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(values.mean()), float(low), float(high))


def paired(first: Floats, second: Floats, seed: int, resamples: int = 2000) -> Interval:
    """The interval of first − second, user by user."""
    if len(first) != len(second):
        what = f"one run has {len(first)} users and the other {len(second)}"
        raise DataError(what, where="paired bootstrap", fix="score both runs on the same users, in the same order")
    return bootstrap(first - second, seed, resamples)
