"""The realised label skew is not the requested one.

    H = mean over classes of Σ_k p_k², p_k the share of the class on client k; p-value of H under Dir(α·1_K) < p,   or
    the clients' accuracies on train and on test differ by less than `gap` at a requested α ≤ alpha

Under strong skew a client knows few classes, so it is far better on its own images than on all images.
Source: original report 4, which reused a cached split of another α.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

DRAWS, FIRST = 20_000, 1_000
CLEAR = 0.05
"""If the first draws give a larger p-value than this, the remaining draws are skipped."""


@Rule(
    "partition-not-as-asked",
    severity="warning",
    when=("live",),
    reads=("fact:alpha", "fact:labels|accuracy/train"),
    limits=(
        Limit("p", 0.001, "p-value of the labels below which the split is another"),
        Limit("alpha", 0.1, "largest α for which accuracies are compared"),
        Limit("gap", 0.05, "accuracy on own images minus accuracy on everybody's"),
    ),
    says={
        "labels": "the labels are concentrated by {seen:.3f}, which Dirichlet {alpha:g} gives with p = {p:.1g}",
        "accuracy": "clients have {own:.1%} on their own images, {all:.1%} on everybody's; α was to be {alpha:g}",
    },
    cause="the split that was used is another than the one that was asked for, such as a cached one",
    remedies=(Remedy("make the cache's key of everything that the split depends on, or draw it anew"),),
)
def partition_not_as_asked(run: Recording, limit: Limits) -> Iterator[Sign]:
    alpha = float(run.facts["alpha"])
    if run.facts.get("labels") is not None:
        counts = np.asarray(run.facts["labels"], dtype=float)
        seen, value = concentration(counts), p_value(counts, alpha)
        if value < limit["p"]:
            yield Sign(None, [], {"seen": seen, "alpha": alpha, "p": value}, "labels")
    train, test = run.mean("accuracy/train"), run.local
    if alpha <= limit["alpha"] and len(train) and len(test):
        known, everything = float(train.values[-1]), test.at(int(train.steps[-1]))
        if known - everything < limit["gap"] and everything > 0.5:
            numbers = {"own": known, "all": everything, "alpha": alpha}
            yield Sign(None, [int(train.steps[-1])], numbers, "accuracy")


def concentration(counts: np.ndarray) -> float:
    """Mean over classes of the sum of squared shares over clients; counts [K, C]."""
    there = counts[:, counts.sum(axis=0) > 0]
    shares = there / there.sum(axis=0)
    return float((shares**2).sum(axis=0).mean())


def p_value(counts: np.ndarray, alpha: float) -> float:
    """Two-sided p-value by simulation; the generator is fixed, so that a partition always gets the same value."""
    n_clients, n_classes = len(counts), int((counts.sum(axis=0) > 0).sum())
    if n_clients < 2 or n_classes == 0:
        return 1.0
    seen, value = concentration(counts), 1.0
    for draws in (FIRST, DRAWS):
        simulated = _simulated(n_clients, n_classes, alpha, draws)
        tail = min((simulated >= seen).mean(), (simulated <= seen).mean())
        value = float(min(1.0, 2 * max(tail, 0.5 / len(simulated))))
        if value > CLEAR:
            break
    return value


@lru_cache(maxsize=16)
def _simulated(n_clients: int, n_classes: int, alpha: float, most: int) -> np.ndarray:
    """Concentrations of simulated partitions; cached, because a guard asks repeatedly."""
    draws = max(200, min(most, 20_000_000 // (n_clients * n_classes)))
    gamma = np.random.default_rng(0).standard_gamma(alpha, size=(draws, n_classes, n_clients))
    total = gamma.sum(axis=2, keepdims=True)
    shares = np.divide(gamma, total, out=np.full_like(gamma, 1 / n_clients), where=total > 0)
    concentrations: np.ndarray = (shares**2).sum(axis=2).mean(axis=1)
    return concentrations
