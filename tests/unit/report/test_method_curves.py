from __future__ import annotations

import numpy as np
import pytest

from equipoise.diagnose.recording import EMPTY, Curve
from equipoise.report.draw import draw
from equipoise.report.examined import RunCurves
from equipoise.report.figure import LineChart
from equipoise.report.figures.method_curves import Courses, method_curves
from equipoise.report.words import words

SAY = words("en")


def course(values: list[float], lam: list[float], metric: str = "accuracy/merged") -> RunCurves:
    steps = np.arange(len(values))
    used = Curve(None, steps, np.asarray(lam)) if lam else EMPTY
    return RunCurves(metric, Curve(None, steps, np.asarray(values)), used)


def drawn(groups: Courses, setting: str = "") -> list[LineChart]:
    return list(method_curves(groups, {label: place for place, label in enumerate(groups)}, SAY, setting))


def colours(figure: LineChart) -> dict[str, str]:
    """What the chart draws each line in."""
    scale = draw(figure, SAY).to_dict()["layer"][0]["encoding"]["color"]["scale"]
    return dict(zip(scale["domain"], scale["range"], strict=True))


def test_a_method_changed_its_colour_where_another_had_no_lambda() -> None:
    """FedAvg uses no λ, so FedProx was the second line of the one chart and the first of the other."""
    groups = {"FedAvg": [course([0.1, 0.2], [])], "FedProx": [course([0.3, 0.4], [0.01, 0.01])]}
    headline, lam = drawn(groups)
    assert [line.name for line in lam.lines] == ["FedProx"]
    assert colours(lam)["FedProx"] == colours(headline)["FedProx"] != colours(headline)["FedAvg"]


def test_the_band_of_two_seeds_is_their_range() -> None:
    (figure,) = drawn({"a": [course([0.1, 0.2], []), course([0.3, 0.4, 0.5], [])]})
    (line,) = figure.lines
    assert list(line.steps) == [1, 2]
    assert np.allclose([line.values, line.low, line.high], [[0.2, 0.3], [0.1, 0.2], [0.3, 0.4]])


def test_the_band_of_three_seeds_is_the_interval_of_their_mean() -> None:
    (figure,) = drawn({"a": [course([value], []) for value in (0.4, 0.5, 0.6)]})
    (line,) = figure.lines
    half = 4.302653 * 0.1 / 3**0.5  # t(.975, 2) · std / √n
    assert line.values == pytest.approx([0.5])
    assert [*line.low, *line.high] == pytest.approx([0.5 - half, 0.5 + half])


def test_the_band_of_a_share_left_the_axis_from_0_to_1() -> None:
    spread = [course([value], []) for value in (0.0, 0.5, 1.0)]
    (figure,) = drawn({"a": spread})
    assert (list(figure.lines[0].low), list(figure.lines[0].high)) == ([0.0], [1.0])


def test_the_band_of_lambda_is_its_range_and_so_stays_above_zero() -> None:
    _, lam = drawn({"a": [course([0.5], [value]) for value in (0.1, 1.0, 100.0)]})
    assert (list(lam.lines[0].low), list(lam.lines[0].high)) == ([0.1], [100.0])


def test_runs_that_were_never_scored_have_no_picture() -> None:
    assert drawn({"a": [course([], [])], "b": [course([], [])]}) == []


def test_a_long_course_was_drawn_with_every_checkpoint() -> None:
    (figure,) = drawn({"a": [course([0.5] * 5000, [])]})
    assert len(figure.lines[0].steps) == 300
    assert figure.lines[0].steps[-1] == 5000


def test_the_setting_is_in_the_caption() -> None:
    (figure,) = drawn({"a": [course([0.5], [])]}, "At alpha=0.1.")
    assert figure.note == "At alpha=0.1."
