from __future__ import annotations

import pytest

from equipoise.api.demo.part import Story, StoryPart, accuracy, average, between, interval, listed, points
from equipoise.report.statistics import Difference
from tests.unit.api.demo.findings import RUNAWAY

CLEAR, LEVEL = Difference(-0.183, -0.265, -0.101, 3), Difference(0.002, -0.013, 0.016, 3)


def test_figures_are_in_per_cent_and_a_single_run_has_no_deviation() -> None:
    assert accuracy(average({0: 0.5, 1: 0.7})) == "60.0 ± 14.1"
    assert accuracy(average({3: 0.5})) == "50.0"


def test_a_difference_is_starred_where_its_interval_excludes_zero() -> None:
    assert points(CLEAR) == "-18.3 [-26.5, -10.1] *"
    assert points(LEVEL) == "+0.2 [-1.3, +1.6]"
    assert points(None) == "–"
    assert interval(CLEAR) == "-18.3 [-26.5, -10.1]"


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ([0.977, 0.977], "at 97.7 %"),
        ([0.979, 0.975, 0.977], "between 97.5 and 97.9 %"),
        ([0.97701, 0.97699], "at 97.7 %"),
    ],
)
def test_a_range_of_figures(figures: list[float], said: str) -> None:
    assert between(figures) == said


@pytest.mark.parametrize(
    ("words", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_in_a_row(words: list[str], said: str) -> None:
    assert listed(words) == said


def test_a_story_as_json_has_the_numbers_and_the_finding() -> None:
    part = StoryPart(
        "healing", "It fails.", [{"policy": "decoupled", "accuracy": 0.5}], finding=RUNAWAY, diagnosed="run-1"
    )
    document = Story("A policy", [part, StoryPart("skew", "It is flat.", [])]).to_json()
    assert document["title"] == "A policy"
    first, second = document["parts"]
    assert first["rows"] == [{"policy": "decoupled", "accuracy": 0.5}]
    assert (first["diagnosed"], first["finding"]["code"]) == ("run-1", "lambda-runaway")
    assert second == {"name": "skew", "says": "It is flat.", "rows": []}
