"""Mean ranks of methods over blocks, and which methods can be told apart.

A block is a setting and a random seed for which every method has a value, N blocks and k methods. r_ij is the rank of
method j in block i: 1 for the highest value, equal values share the mean of their ranks.

    R_j  = 1/N·Σ_i r_ij
    χ²   = (k−1)·Σ_j (Σ_i r_ij − N(k+1)/2)² / (Σ_ij r_ij² − N·k(k+1)²/4),  k−1 degrees of freedom      Friedman
    CD   = q(.95; k, ∞)/√2 · √(k(k+1)/(6N))                                                            Nemenyi
    p_ab = two-sided Wilcoxon signed-rank test over blocks, for each pair of methods
    Holm : the m p-values in ascending order, p'_i = max_{j≤i} min(1, (m−j+1)·p_j)

Two methods are apart if Friedman's p < 0.05 and |R_a − R_b| > CD. Sources: Demšar, "Statistical Comparisons of
Classifiers over Multiple Data Sets", JMLR 7 (2006), §3.2.2; Holm, Scand. J. Statist. 6 (1979).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from equipoise.core.values import Floats

ALPHA = 0.05
FEWEST_METHODS, FEWEST_BLOCKS = 3, 6
"""Two methods have a paired difference instead. Five blocks cannot reach 5 %: 2/2⁵ is the smallest p of Wilcoxon."""


@dataclass(frozen=True)
class Ranking:
    """Methods by mean rank, the best first, and the tests over the same blocks."""

    ranks: Mapping[str, float]
    n_blocks: int
    chi2: float
    p: float
    critical: float
    """The critical difference of mean ranks, CD."""
    pairs: Mapping[tuple[str, str], float]
    """Holm's adjusted p-value of each pair, the better method first."""

    @property
    def is_clear(self) -> bool:
        """Whether the methods differ at all, by Friedman's test."""
        return self.p < ALPHA

    @property
    def groups(self) -> list[list[str]]:
        """The largest groups of methods that cannot be told apart; all methods if nothing differs."""
        names = list(self.ranks)
        if not self.is_clear:
            return [names]
        ends = [max(j for j, b in enumerate(names) if not self.is_apart(a, b)) for a in names]
        return [names[i : j + 1] for i, j in enumerate(ends) if j > i and (i == 0 or j > ends[i - 1])]

    def is_apart(self, one: str, other: str) -> bool:
        return self.is_clear and abs(self.ranks[one] - self.ranks[other]) > self.critical


def critical_difference(n_methods: int, n_blocks: int) -> float:
    """CD of mean ranks.

    >>> round(critical_difference(4, 14), 2)  # Demšar's example
    1.25
    """
    from scipy.stats import studentized_range  # type: ignore[attr-defined]  # half a second, only for comparisons

    q = float(studentized_range.ppf(1 - ALPHA, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))


def ranking(values: Mapping[str, Sequence[float]]) -> Ranking:
    """The ranking of methods by their values, one per block in the same order; higher is better."""
    from scipy.stats import rankdata

    names = list(values)
    table = np.array([values[name] for name in names]).T
    ranks = rankdata(-table, axis=1)
    means = dict(zip(names, ranks.mean(axis=0).tolist(), strict=True))
    ordered = dict(sorted(means.items(), key=lambda each: each[1]))
    chi2, p = friedman(ranks)
    critical = critical_difference(len(names), len(table))
    return Ranking(ordered, len(table), chi2, p, critical, pairwise(values, list(ordered)))


def friedman(ranks: Floats) -> tuple[float, float]:
    """(χ², p) of ranks [N, k]; (0, 1) if all methods are equal in every block."""
    from scipy.special import chdtrc

    n, k = ranks.shape
    between = float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    spread = float((ranks**2).sum()) - n * k * (k + 1) ** 2 / 4
    chi2 = (k - 1) * between / spread if spread > 0 else 0.0
    return chi2, float(chdtrc(k - 1, chi2))


def pairwise(values: Mapping[str, Sequence[float]], names: Sequence[str]) -> dict[tuple[str, str], float]:
    """Holm's adjusted p-values of Wilcoxon tests between all pairs of names."""
    pairs = list(combinations(names, 2))
    return dict(zip(pairs, holm([_wilcoxon(values[a], values[b]) for a, b in pairs]), strict=True))


def _wilcoxon(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """1 for methods that are equal in every block, for which the test is not defined."""
    from scipy.stats import wilcoxon

    gaps = np.subtract(ours, theirs)
    return float(wilcoxon(gaps).pvalue) if gaps.any() else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the given order.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m, running = len(p_values), 0.0
    adjusted = [0.0] * m
    for place, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        running = max(running, min(1.0, (m - place) * p_values[i]))
        adjusted[i] = running
    return adjusted
