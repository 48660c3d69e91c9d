from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.memory.dynamic import MemoryOptions, novelty, replay, retrieve, unusual, utility, written

SMALL = MemoryOptions(short=2, long=2, merge=0.99, read=3, half_life=10)


def directions(*degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


def everything(features: np.ndarray, options: MemoryOptions, at: int) -> tuple[list[int], list[int], list[int]]:
    ((positions, times, uses),) = replay(features, np.ones(len(features), dtype=bool), [at], options)
    return positions.tolist(), times.tolist(), uses.tolist()


def test_what_is_new_is_far_from_everything_recent():
    found = novelty(directions(0, 90, 0, 60))
    assert found == pytest.approx([1, 1, 0, 1 - np.cos(np.radians(30))], abs=1e-6)  # 60° is 30° from the second


def test_novelty_forgets_what_is_more_than_fifty_positions_ago(rng):
    rows = rng.standard_normal((130, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    expected = [1.0] + [1 - max(rows[t] @ rows[s] for s in range(max(0, t - 50), t)) for t in range(1, 130)]
    assert novelty(rows) == pytest.approx(expected, abs=1e-5)


def test_surprise_or_novelty_is_written_and_everything_at_the_beginning():
    new = np.array([0.4, 0.6] * 10, np.float32)
    new[15] = 0.9  # of 0.4 and 0.6 the mean is 0.5 and the deviation 0.1: four deviations newer than usual
    surprise = np.zeros(20, np.float32)
    surprise[18] = 2
    options, known = MemoryOptions(surprise=1, novelty=1.5), np.ones(20, bool)
    assert np.flatnonzero(written(surprise, new, known, options)).tolist() == [*range(10), 15, 18]


def test_of_what_nothing_is_known_nothing_is_written_and_nothing_is_usual():
    """Every third item has no features, and so a novelty of 1: the others are judged as if it had not been there."""
    usual = np.array([0.4, 0.6] * 10, np.float32)
    usual[15] = 0.9
    known = np.arange(30) % 3 > 0
    new = np.ones(30, np.float32)
    new[known] = usual
    surprise, options = np.where(known, 0, 9).astype(np.float32), MemoryOptions(surprise=1, novelty=1.5)
    at = np.flatnonzero(known)
    assert np.flatnonzero(written(surprise, new, known, options)).tolist() == at[[*range(10), 15]].tolist()
    assert unusual(new, known)[known] == pytest.approx(unusual(usual, np.ones(20, bool)))


def test_what_is_unusual_is_judged_by_the_past_alone():
    new = np.random.default_rng(0).random(40).astype(np.float32)
    z = unusual(new, np.ones(40, bool))
    for t in (10, 25, 39):
        assert z[t] == pytest.approx((new[t] - new[:t].mean()) / new[:t].std(), rel=1e-3)
    assert not z[:10].any()


def test_the_short_term_is_a_queue_and_what_leaves_it_is_kept_long():
    features = directions(0, 40, 80, 120)
    assert everything(features, SMALL, 2) == ([0, 1], [0, 1], [1, 1])
    assert everything(features, SMALL, 4) == ([0, 1, 2, 3], [0, 1, 2, 3], [1, 1, 1, 1])  # 0 and 1 are long by now


def test_a_near_duplicate_joins_the_older_row():
    features = directions(0, 40, 1, 80, 120)  # 0 and 2 are one degree apart
    positions, times, uses = everything(features, SMALL, 5)
    assert positions == [0, 1, 3, 4]
    assert uses == [2, 1, 1, 1]
    assert times == [4, 1, 3, 4]  # the row of 0 was met again when 2 left the short term, at position 4


def test_the_least_useful_row_is_forgotten():
    features = directions(0, 40, 80, 120, 160)
    assert everything(features, SMALL, 5)[0] == [2, 1, 3, 4]  # 0 is oldest, and 2 takes its slot
    useful = directions(0, 40, 1, 80, 120, 160)
    assert everything(useful, SMALL, 6)[0] == [0, 3, 4, 5]  # 0 was met twice, so 1 has to go


def test_utility_is_recency_and_frequency():
    found = utility(np.array([10, 0]), np.array([1, 5]), 10, MemoryOptions(half_life=10))
    assert found == pytest.approx([1 + np.log(2) / np.log(3), 0.5 + np.log(6) / np.log(7)])


def test_what_is_read_is_like_the_query_with_a_say_for_utility():
    features = directions(0, 40, 80, 120)
    rows = (np.arange(4), np.arange(4), np.ones(4, dtype=np.int64))
    near = MemoryOptions(read=2, mix=0)
    assert retrieve(rows, features, directions(85)[0], 4, near)[0].tolist() == [2, 3]
    newest = MemoryOptions(read=2, mix=1)
    assert retrieve(rows, features, directions(85)[0], 4, newest)[0].tolist() == [3, 2]


def test_rows_that_are_not_there_are_masked():
    none = np.empty(0, dtype=np.int64)
    chosen, valid = retrieve((none, none, none), np.empty((0, 2), np.float32), directions(0)[0], 0, SMALL)
    assert (chosen.tolist(), valid.tolist()) == ([0, 0, 0], [False, False, False])


@given(seed=st.integers(0, 1000), n=st.integers(1, 60))
def test_nothing_later_is_remembered_and_nothing_twice(seed, n):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, 3)).astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    writes, bounds = rng.random(n) < 0.7, sorted(rng.integers(0, n + 1, 4).tolist())
    options = MemoryOptions(short=4, long=6, merge=0.9)
    for at, (positions, times, uses) in zip(bounds, replay(features, writes, bounds, options), strict=True):
        assert len(set(positions.tolist())) == len(positions) <= 10
        assert all(position < at and writes[position] for position in positions)
        assert (times >= positions).all()
        assert (times < max(at, 1)).all()
        assert (uses >= 1).all()


@given(seed=st.integers(0, 1000))
def test_the_memory_before_a_position_does_not_depend_on_what_follows(seed):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((30, 3)).astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    writes = rng.random(30) < 0.5
    whole = list(replay(features, writes, [10, 20, 30], SMALL))
    assert [part.tolist() for part in whole[1]] == [
        part.tolist() for part in next(iter(replay(features[:20], writes[:20], [20], SMALL)))
    ]
