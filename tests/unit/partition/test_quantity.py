import numpy as np
import pytest

from equipoise.core.streams import stream
from equipoise.partition.divide import count
from equipoise.partition.quantity import QuantityOptions, quantity

LABELS = np.tile(np.arange(4), 5000)


def counts(alpha, seed=0):
    return count(quantity(LABELS, 4, QuantityOptions(clients=5, alpha=alpha), stream(seed, "t")), LABELS, 4)


def test_sizes_are_unequal_and_labels_are_not():
    table = counts(0.5)
    sizes = table.sum(axis=1)
    large = table[sizes > 1000]
    assert sizes.max() > 2 * sizes.min()
    assert large / large.sum(axis=1, keepdims=True) == pytest.approx(np.full(large.shape, 0.25), abs=0.05)


def test_a_huge_alpha_gives_equal_sizes():
    assert counts(1e9).sum(axis=1) == pytest.approx([4000] * 5, abs=5)


def test_a_tiny_alpha_leaves_the_others_the_minimum():
    assert sorted(counts(1e-6).sum(axis=1).tolist()) == [2, 2, 2, 2, 19_992]
