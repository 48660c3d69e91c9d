"""The box of each method, over clients and seeds."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.diagnose.finding import Verdict
from equipoise.diagnose.recording import EMPTY
from equipoise.report.draw import draw
from equipoise.report.examined import ExaminedRun, RunCurves
from equipoise.report.figure import BoxChart
from equipoise.report.figure_table import markdown_of
from equipoise.report.figures.client_spread import client_spread
from equipoise.report.words import words
from tests.unit.report.sweeps import run_of

SAY = words("en")


def seen(values: list[float]) -> ExaminedRun:
    course = RunCurves("accuracy/merged", EMPTY, EMPTY)
    return ExaminedRun(run_of("a"), Verdict([], {}, []), course, np.array(values, np.float64))


def made(**groups: list[ExaminedRun]) -> BoxChart:
    (figure,) = client_spread(groups, {"a": 3, "b": 1}, SAY, "At alpha=0.1.")
    return figure


def test_the_clients_of_all_seeds_are_in_one_box() -> None:
    figure = made(a=[seen([0.4, 0.0]), seen([0.2, 0.1, 0.3])], b=[seen([0.5])])
    assert dict(figure.values) == {"a": [0.0, 0.1, 0.2, 0.3, 0.4], "b": [0.5]}
    assert dict(figure.colours) == {"a": 3, "b": 1}
    assert figure.note == "At alpha=0.1."


def test_a_method_whose_clients_were_not_scored_has_no_box() -> None:
    assert list(made(a=[seen([0.1])], b=[seen([])]).values) == ["a"]
    assert list(client_spread({"b": [seen([])]}, {"b": 0}, SAY)) == []


def test_a_thousand_clients_are_thinned_and_the_quartiles_stay() -> None:
    every = np.linspace(0, 1, 1001)
    figure = made(a=[seen(every.tolist())])
    assert len(figure.values["a"]) == 200
    assert np.quantile(figure.values["a"], (0, 0.25, 0.5, 0.75, 1)) == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=5e-3)
    assert figure.note.endswith("Up to 1001 values; 200 evenly spaced ones are shown.")


def test_the_chart_has_a_dash_per_client_and_the_quartiles() -> None:
    spec = draw(made(a=[seen([0.0, 0.1, 0.2, 0.3, 0.4])]), SAY).to_dict()
    data = [row for rows in spec["datasets"].values() for row in rows]
    assert [row["value"] for row in data if "value" in row] == [0.0, 0.1, 0.2, 0.3, 0.4]
    (box,) = [row for row in data if "median" in row]
    assert [box[end] for end in ("lowest", "quarter", "median", "three", "highest")] == pytest.approx(
        [0, 0.1, 0.2, 0.3, 0.4]
    )


def test_in_markdown_a_method_is_a_row_with_its_quartiles() -> None:
    text = markdown_of(made(a=[seen([0.0, 0.1, 0.2, 0.3, 0.4])]), SAY)
    assert "| a | 5 | 0.00 % | 10.00 % | 20.00 % | 30.00 % | 40.00 % |" in text
