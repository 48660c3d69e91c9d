from __future__ import annotations

import pytest

from equipoise.bench.measure import BenchmarkResult, Goal, Timing, by_turns, compared, speedup


def test_sides_take_turns_and_the_last_outcome_is_scored_when_the_clock_has_stopped():
    heard: list[str] = []

    def way(name: str):
        def go() -> str:
            heard.append(name)
            return name

        return go

    def score(outcome: str) -> float:
        heard.append(f"score {outcome}")
        return float(len(outcome))

    ours, theirs = by_turns([way("us"), way("them")], 2, score)
    assert heard == ["us", "them", "us", "them", "us", "score us", "them", "score them"]
    assert (ours.figure, theirs.figure) == (2.0, 4.0)
    assert len(ours.seconds) == 3


def times(*seconds: float, figure: float = 1.0) -> Timing:
    return Timing(lambda: None, list(seconds), figure)


def test_the_ratio_is_the_median_over_pairs_without_the_first():
    ours, theirs = times(9, 1, 2, 4), times(1, 10, 12, 8)
    faster = compared("x", "what", ours, theirs, Goal("at least", 5))
    assert (faster.ratio, faster.spread) == (6.0, (2.0, 10.0))
    assert (faster.ours, faster.theirs) == (2, 10)
    assert speedup(ours, theirs) == 6.0
    dearer = compared("x", "what", ours, theirs, Goal("at most", 0.1))
    assert (dearer.ratio, dearer.spread) == (pytest.approx(1 / 6), (0.1, 0.5))


@pytest.mark.parametrize(
    ("goal", "ratio", "met"),
    [
        (Goal("at least", 2), 2.0, True),
        (Goal("at least", 2), 1.9, False),
        (Goal("at most", 2), 2.0, True),
        (Goal("at most", 2), 2.1, False),
    ],
    ids=str,
)
def test_goals(goal, ratio, met):
    assert goal.is_met(ratio) is met


def test_unlike_work_is_marked():
    def result(*figures: float, tolerance: float = 1e-3) -> BenchmarkResult:
        return BenchmarkResult("x", "", 1, (1, 1), 1, 1, Goal("at least", 1), figures=figures, tolerance=tolerance)

    assert result(2.3, 2.3001).is_alike
    assert not result(2.3, 2.4).is_alike
    assert result(2.3, 2.4, tolerance=0.1).is_alike
    assert result(2.3, 2.4).to_json()["is_alike"] is False
    assert result(1, 1).to_json()["goal"] == "≥ 1"
