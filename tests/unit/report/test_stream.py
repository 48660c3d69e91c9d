"""What a change costs, from everybody's own alarm on."""

from __future__ import annotations

from equipoise.report.stream import aligned_at

SCORED = (4, 9, 14, 19, 24, 29)


def user(*hits: float) -> dict[int, float]:
    return dict(zip(SCORED, hits, strict=False))


def test_changes_at_different_slices_are_moved_to_one_place():
    hits = {0: user(0.3, 0.4, 0.5, 0.0, 0.4, 0.4), 1: user(0.0, 0.3, 0.4, 0.5, 0.1, 0.5)}
    assert aligned_at(hits, {0: 19, 1: 24}) == {
        -3: [0.3, 0.3],
        -2: [0.4, 0.4],
        -1: [0.5, 0.5],
        0: [0.0, 0.1],
        1: [0.4, 0.5],
        2: [0.4],
    }


def test_whoever_has_too_few_slices_before_is_left_out():
    hits = {0: user(0.3, 0.4, 0.5, 0.0), 1: {4: 0.2, 14: 0.3, 19: 0.1}}
    assert aligned_at(hits, {0: 14, 1: 19}) == {}
    assert aligned_at(hits, {0: 24}) == {}, "a slice in which nothing of this user was scored"
