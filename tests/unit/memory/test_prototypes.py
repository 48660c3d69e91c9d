from __future__ import annotations

import numpy as np
import pytest

from equipoise.memory.prototypes import centres, each_of_length_one


def test_clusters_that_are_plain_are_found(rng):
    middle = np.array([[0, 0], [10, 0], [0, 10]], np.float32)
    rows = np.concatenate([m + 0.1 * rng.standard_normal((20, 2)) for m in middle]).astype(np.float32)
    found, behind = centres(rows, 3, 1, [2])
    order = np.argsort(found @ [1, 2])
    assert found[order] == pytest.approx(middle, abs=0.1)
    assert behind.tolist() == [20, 20, 20]


def test_weights_pull_a_centre():
    rows = np.array([[1.0], [2.0]], np.float32)
    found, behind = centres(rows, 1, 0, [1], np.array([3, 1], np.float32))
    assert found.tolist() == [[1.25]]
    assert behind.tolist() == [4]


def test_the_order_of_rows_does_not_choose_what_is_averaged():
    """Two clients with the same centres in opposite order: rows averaged one by one would both be the middle."""
    rows = np.array([[0, 1], [4, 5], [4, 5], [0, 1]], np.float32)
    found, _ = centres(rows, 2, 0, [2])
    assert sorted(found.tolist()) == [[0, 1], [4, 5]]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_more_centres_than_rows(n):
    found, behind = centres(np.arange(n, dtype=np.float32)[:, None], 5, 0, [1])
    assert len(found) == len(behind) == n
    assert behind.sum() == n


def test_the_same_seed_gives_the_same_centres(rng):
    rows = rng.standard_normal((50, 4)).astype(np.float32)
    assert np.array_equal(centres(rows, 5, 3, [4])[0], centres(rows, 5, 3, [4])[0])


def test_a_modality_that_is_not_known_of_a_row_is_left_out_of_its_mean():
    """Three rows of a picture (two numbers) and a text (one); the second has no picture, nobody in the end a text."""
    rows = np.array([[2, 4, 6], [0, 0, 8], [4, 8, 0]], np.float32)
    (centre,), behind = centres(rows, 1, 0, [2, 1])
    assert centre.tolist() == [(2 + 4) / 2, (4 + 8) / 2, (6 + 8) / 2]
    assert behind.tolist() == [3]
    (pictures,), _ = centres(rows[:, :2] * [[1], [0], [1]] @ np.eye(2, 3, dtype=np.float32), 1, 0, [2, 1])
    assert pictures.tolist() == [3, 6, 0]


def test_every_modality_of_a_row_counts_as_one_of_length_one():
    rows = np.array([[3, 4, 5], [0, 0, 2]], np.float32)
    assert each_of_length_one(rows, [2, 1]) == pytest.approx(np.array([[0.6, 0.8, 1], [0, 0, 1]]))
