"""What a change costs, from everybody's own alarm on."""

from __future__ import annotations

import pytest

from equipoise.report.stream import aligned, cost

SCORED = (4, 9, 14, 19, 24, 29)


def user(*hits: float) -> dict[int, float]:
    return dict(zip(SCORED, hits, strict=False))


def test_changes_at_different_slices_are_moved_to_one_place():
    hits = {0: user(0.3, 0.4, 0.5, 0.0, 0.4, 0.4), 1: user(0.0, 0.3, 0.4, 0.5, 0.1, 0.5)}
    assert aligned(hits, {0: 19, 1: 24}) == {
        0: {-3: 0.3, -2: 0.4, -1: 0.5, 0: 0.0, 1: 0.4, 2: 0.4},
        1: {-3: 0.3, -2: 0.4, -1: 0.5, 0: 0.1, 1: 0.5},
    }


def test_whoever_has_too_few_slices_before_is_left_out():
    hits = {0: user(0.3, 0.4, 0.5, 0.0), 1: {4: 0.2, 14: 0.3, 19: 0.1}}
    assert aligned(hits, {0: 14, 1: 19}) == {}
    assert aligned(hits, {0: 24}) == {}, "a slice in which nothing of this user was scored"
    assert cost({}) is None


def test_level_and_drop_are_of_everybody():
    found = cost({0: {-3: 0.3, -2: 0.4, -1: 0.5, 0: 0.0, 1: 0.4}, 1: {-3: 0.2, -2: 0.2, -1: 0.2, 0: 0.2, 1: 0.2}})
    assert found == {"users": 2, "level": pytest.approx(0.3), "drop": pytest.approx(0.2), "back": 1}


def test_users_are_held_against_their_own_level():
    """The second, with many hits, is never seen again after its alarm; the first is back."""
    found = cost({0: {-3: 0.2, -2: 0.2, -1: 0.2, 0: 0.0, 1: 0.2}, 1: {-3: 0.8, -2: 0.8, -1: 0.8, 0: 0.0}})
    assert found is not None
    assert (found["level"], found["drop"], found["back"]) == (pytest.approx(0.5), pytest.approx(0.5), 1)


def test_a_slice_in_which_nobody_is_scored_counts_as_time():
    assert cost({0: {-3: 0.2, -2: 0.2, -1: 0.2, 0: 0.0, 2: 0.2}})["back"] == 2


def test_within_five_per_cent_is_back_and_less_is_not():
    level = {-3: 1.0, -2: 1.0, -1: 1.0}
    assert cost({0: {**level, 0: 0.95}})["back"] == 0
    assert cost({0: {**level, 0: 0.94, 1: 0.9}})["back"] is None
