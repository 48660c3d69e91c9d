"""Statistics over seeds. The test set never selects a checkpoint.

final  = the metric at the last checkpoint
best   = the test metric at the checkpoint with the highest *validation* metric (the first on ties)
std    = sample deviation, n − 1
half   = t(.975, n−1)·std/√n, the half-width of the 95 % interval of the mean
paired = mean of the per-seed differences ± t(.975, n−1)·std/√n, over common seeds
         rankings: mean over those seeds of each user's difference, with a bootstrap interval over users
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from equipoise.evaluate import intervals


@dataclass(frozen=True)
class HeadlineCurve:
    """One run's headline metric and its validation metric over the scored checkpoints."""

    run_id: str
    seed: int
    steps: Sequence[int]
    values: Sequence[float]
    validation: Sequence[float]


@dataclass(frozen=True)
class UserGains:
    """Each user's value of a ranking metric, and the rank that a Markov baseline gives to the same item.

    Two runs with equal `markov` ranked the same items for the same users."""

    gains: Mapping[int, float]
    markov: Mapping[int, float]


@dataclass(frozen=True)
class MeanStd:
    """mean ± std over n runs; std is NaN for a single run."""

    mean: float
    std: float
    n: int


@dataclass(frozen=True)
class Difference:
    """Mean paired difference with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int
    over: Literal["seeds", "users"] = "seeds"

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def final(curve: HeadlineCurve) -> float:
    return curve.values[-1]


def best(curve: HeadlineCurve) -> float:
    """The test value at the checkpoint with the highest validation value.

    >>> best(HeadlineCurve("a", 0, [0, 1, 2], [0.5, 0.9, 0.6], [0.4, 0.3, 0.6]))
    0.6
    """
    chosen = max(range(len(curve.values)), key=lambda i: curve.validation[i])
    return curve.values[chosen]


def mean_std(values: Sequence[float]) -> MeanStd:
    return MeanStd(fmean(values), stdev(values) if len(values) > 1 else math.nan, len(values))


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % interval of the mean; NaN for a single value.

    >>> round(half_width([0.1, 0.2, 0.3]), 4)  # 4.3027 · 0.1 / √3
    0.2484
    """
    n = len(values)
    return float(stdtrit(n - 1, 0.975)) * stdev(values) / math.sqrt(n) if n > 1 else math.nan


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Difference | None:
    """The difference ours − theirs, paired by seed; None with fewer than two common seeds."""
    common = sorted(ours.keys() & theirs.keys())
    if len(common) < 2:
        return None
    differences = [ours[seed] - theirs[seed] for seed in common]
    mean, half = fmean(differences), half_width(differences)
    return Difference(mean, mean - half, mean + half, len(common))


def paired_users(ours: Mapping[int, UserGains], theirs: Mapping[int, UserGains]) -> Difference | None:
    """The difference paired by user, over common seeds; None unless both ranked the same items in each of them."""
    common = sorted(ours.keys() & theirs.keys())
    if not common or any(not ours[s].markov or ours[s].markov != theirs[s].markov for s in common):
        return None
    gains = np.array([[[w for _, w in sorted(each[s].gains.items())] for s in common] for each in (ours, theirs)])
    first, second = gains.mean(axis=1)
    found = intervals.paired(first, second, seed=0)
    return Difference(found.mean, found.low, found.high, len(common), "users")
