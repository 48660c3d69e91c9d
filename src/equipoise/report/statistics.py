"""Figures over seeds, without selecting on test.

final  = the metric at the last checkpoint
best   = the test metric at the checkpoint where *validation* is highest (the first of equals)
std    = sample deviation, n − 1
paired = mean of the per-seed differences ± t(.975, n−1)·std/√n, over the seeds both have
         of rankings: each user's difference, mean over those seeds, with the bootstrap interval of its mean over users
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
    """One run's headline metric over its scored checkpoints, and validation beside it."""

    run_id: str
    seed: int
    steps: Sequence[int]
    values: Sequence[float]
    validation: Sequence[float]


@dataclass(frozen=True)
class UserGains:
    """What the rank of every user's item is worth to a metric, and where a Markov table puts that item: two runs with
    the same table ranked the same items for the same users."""

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
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


def final(curve: HeadlineCurve) -> float:
    return curve.values[-1]


def best(curve: HeadlineCurve) -> float:
    """The test value where validation peaks.

    >>> best(HeadlineCurve("a", 0, [0, 1, 2], [0.5, 0.9, 0.6], [0.4, 0.3, 0.6]))
    0.6
    """
    chosen = max(range(len(curve.values)), key=lambda i: curve.validation[i])
    return curve.values[chosen]


def mean_std(values: Sequence[float]) -> MeanStd:
    return MeanStd(fmean(values), stdev(values) if len(values) > 1 else math.nan, len(values))


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Difference | None:
    """Differences ours − theirs over common seeds; None with fewer than two of them."""
    common = sorted(ours.keys() & theirs.keys())
    if len(common) < 2:
        return None
    differences = [ours[seed] - theirs[seed] for seed in common]
    n, mean = len(common), fmean(differences)
    half = float(stdtrit(n - 1, 0.975)) * stdev(differences) / math.sqrt(n)
    return Difference(mean, mean - half, mean + half, n)


def paired_users(ours: Mapping[int, UserGains], theirs: Mapping[int, UserGains]) -> Difference | None:
    """The same user by user, over common seeds; None unless both ranked the same items in every one of them."""
    common = sorted(ours.keys() & theirs.keys())
    if not common or any(not ours[s].markov or ours[s].markov != theirs[s].markov for s in common):
        return None
    gains = np.array([[[w for _, w in sorted(each[s].gains.items())] for s in common] for each in (ours, theirs)])
    first, second = gains.mean(axis=1)
    found = intervals.paired(first, second, seed=0)
    return Difference(found.mean, found.low, found.high, len(common), "users")
