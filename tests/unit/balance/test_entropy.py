from __future__ import annotations

from math import log2

import numpy as np
import pytest

from equipoise.balance.entropy import EntropyOptions, entropy, entropy_lam, normalised_entropy
from equipoise.core.values import Moment
from tests.unit.balance.settle import frozen


def counts_with(normalised: float, n_classes: int = 10) -> np.ndarray:
    """Label counts of that normalised entropy, by bisection: one class has x, all others the rest evenly."""
    low, high = 1 / n_classes, 1.0
    for _ in range(60):
        x = (low + high) / 2
        rest = (1 - x) / (n_classes - 1)
        h = -(x * log2(x) + (n_classes - 1) * rest * log2(rest)) / log2(n_classes) if rest > 0 else 0.0
        low, high = (x, high) if h > normalised else (low, x)
    share = np.array([low] + [(1 - low) / (n_classes - 1)] * (n_classes - 1))
    return (share * 10**12).astype(np.int64)


@pytest.mark.parametrize(
    ("h", "normalised", "lam"),
    [
        (1.9079, 0.5743, 5.7859),
        (1.7997, 0.5418, 5.4634),
        (0.6091, 0.1834, 1.9152),
        (1.1689, 0.3519, 3.5837),
        (1.7245, 0.5191, 5.2395),
    ],
)
def test_the_five_weights_of_the_first_report(h, normalised, lam):
    counts = counts_with(h / log2(10))
    assert normalised_entropy(counts) == pytest.approx(normalised, abs=1e-4)
    assert entropy_lam(counts) == pytest.approx(lam, abs=2e-4)


def test_entropy_by_hand():
    # ½, ¼, ¼ of four classes: 1.5 bits of 2
    assert normalised_entropy(np.array([4, 2, 0, 2])) == pytest.approx(1.5 / 2, rel=1e-12)
    assert entropy_lam(np.array([4, 2, 0, 2]), 1, 5) == pytest.approx(1 + 4 * 0.75, rel=1e-12)


def test_one_class_gives_the_least_and_an_even_mix_the_most():
    assert entropy_lam(np.array([0, 7, 0])) == 0.1
    assert entropy_lam(np.array([7, 7, 7])) == pytest.approx(10)
    assert entropy_lam(np.array([7])) == 0.1  # a set with one class has no entropy to share out


@pytest.mark.parametrize(("n_classes", "most"), [(99, 10), (100, 20), (200, 20)])
def test_the_most_depends_on_the_number_of_classes(n_classes, most):
    assert entropy_lam(np.ones(n_classes, dtype=np.int64)) == pytest.approx(most)


@pytest.mark.parametrize(("kind", "s"), [("none", 1.0), ("linear", 0.25)])
def test_the_formula(kind, s):
    policy = entropy(EntropyOptions(lam_min=1, lam_max=5, schedule=kind))
    weighed = policy.weigh(frozen(2.0, 3.0), {}, Moment(0.75, np.array([4, 2, 0, 2])))
    assert weighed.network.item() == pytest.approx(2 + 4 * s * 3)
    assert (weighed.lam, weighed.used) == pytest.approx((4, 4 * s), rel=1e-12)
    assert (weighed.schedule, weighed.scale) == (s, 1)
