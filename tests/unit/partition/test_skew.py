from math import log2

import numpy as np
import pytest

from equipoise.partition.skew import distance, distributions, entropy, realised_skew

# client 0: one of class 0, three of class 1; client 1: four of class 0
COUNTS = np.array([[1, 3], [4, 0]])
TOTALS = np.array([5, 3])


def test_distributions_are_shares_of_each_row():
    assert distributions(COUNTS).tolist() == [[0.25, 0.75], [1.0, 0.0]]
    assert distributions(np.array([[0, 0]])).tolist() == [[0.0, 0.0]]


def test_entropy_in_bits():
    assert entropy(COUNTS) == pytest.approx([1 / 4 * log2(4) + 3 / 4 * log2(4 / 3), 0.0])
    assert entropy(np.array([[5, 5, 5, 5], [0, 0, 0, 0]])) == pytest.approx([2.0, 0.0])


def test_distance_is_the_sum_of_absolute_differences():
    # whole: 5/8, 3/8;  |1/4 − 5/8| + |3/4 − 3/8| = 3/4;  |1 − 5/8| + |0 − 3/8| = 3/4
    assert distance(COUNTS, TOTALS) == pytest.approx([3 / 4, 3 / 4])


def test_realised_skew_by_hand():
    skew = realised_skew(COUNTS, TOTALS, overlap=0.0)
    half = (1 / 4 * 2 + 3 / 4 * log2(4 / 3)) / 2
    assert skew == pytest.approx(
        {
            "entropy": half,
            "entropy_normalised": half / log2(2),
            "classes": (2 + 1) / 2,
            "emd": 3 / 4,
            "overlap": 0.0,
            "size_min": 4,
            "size_mean": 4,
            "size_max": 4,
            "size_std": 0,
            "samples": 8,
        }
    )


def test_emd_weighs_clients_by_size():
    # whole 1/2, 1/2; client 0 of size 2 is at distance 1, client 1 of size 6 at |2/6 − 1/2| + |4/6 − 1/2| = 1/3
    skew = realised_skew(np.array([[2, 0], [2, 4]]), np.array([4, 4]), overlap=0.0)
    assert skew["emd"] == pytest.approx((2 * 1 + 6 * 1 / 3) / 8)
    assert skew["size_std"] == 2.0


def test_one_class_has_no_entropy_to_lose():
    skew = realised_skew(np.array([[3], [2]]), np.array([5]), overlap=0.0)
    assert (skew["entropy"], skew["entropy_normalised"], skew["emd"]) == (0.0, 0.0, 0.0)


def test_disjoint_mixes_are_at_distance_two_at_most():
    skew = realised_skew(np.eye(50, dtype=np.int64), np.ones(50, dtype=np.int64), overlap=0.0)
    assert skew["emd"] == pytest.approx(2 * (1 - 1 / 50))


def test_a_map_without_samples_has_no_skew():
    assert realised_skew(np.zeros((2, 3), dtype=np.int64), np.array([1, 1, 1]), overlap=0.0)["emd"] == 0.0
