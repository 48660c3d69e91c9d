from __future__ import annotations

import numpy as np
from equipoise.report.overview import RunCurves, foremost, overview

from equipoise.diagnose.recording import EMPTY, Curve
from equipoise.report.draw import draw
from equipoise.report.figure import BarChart, ChartLine, Heatmap, LineChart
from equipoise.report.words import words

SAY = words("en")


def course(values: list[float], lam: list[float]) -> RunCurves:
    steps = np.arange(len(values))
    used = Curve(None, steps, np.asarray(lam)) if lam else EMPTY
    return RunCurves("accuracy/merged", Curve(None, steps, np.asarray(values)), used)


def colours(figure: LineChart) -> dict[str, str]:
    """What the chart draws each line in."""
    scale = draw(figure, SAY).to_dict()["layer"][0]["encoding"]["color"]["scale"]
    return dict(zip(scale["domain"], scale["range"], strict=True))


def test_a_method_changed_its_colour_where_another_had_no_lambda() -> None:
    """FedAvg uses no λ, so FedProx was the second line of the one chart and the first of the other."""
    groups = {"FedAvg": [course([0.1, 0.2], [])], "FedProx": [course([0.3, 0.4], [0.01, 0.01])]}
    headline, lam = overview(groups, SAY)
    assert isinstance(headline, LineChart)
    assert isinstance(lam, LineChart)
    assert [line.name for line in lam.lines] == ["FedProx"]
    assert colours(lam)["FedProx"] == colours(headline)["FedProx"] != colours(headline)["FedAvg"]


def test_means_over_seeds_stand_in_a_band() -> None:
    (figure,) = overview({"a": [course([0.1, 0.2], []), course([0.3, 0.4, 0.5], [])]}, SAY)
    assert isinstance(figure, LineChart)
    (line,) = figure.lines
    assert list(line.steps) == [1, 2]
    assert np.allclose([line.values, line.low, line.high], [[0.2, 0.3], [0.1, 0.2], [0.3, 0.4]])


def test_runs_that_were_never_scored_have_no_picture() -> None:
    assert overview({"a": [course([], [])], "b": [course([], [])]}, SAY) == []


def test_a_single_run_is_summed_up_by_its_curve_or_by_who_is_served() -> None:
    grid = Heatmap(key="partition", x="", y="", columns=["0"], rows=["0"], values=np.ones((1, 1)), measure="")
    groups = BarChart(key="groups", x="", y="hr@10/full", bars={"all": 0.1})
    once = LineChart(key="accuracy", y="", lines=[ChartLine("merged", [4], [0.5])])
    often = LineChart(key="ranking", y="", lines=[ChartLine("hr@10/full", [2, 4], [0.1, 0.2])])
    assert foremost([grid, often, groups]) is often
    assert foremost([grid, once, groups]) is groups
    assert foremost([grid, once]) is None
