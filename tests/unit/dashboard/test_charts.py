"""The report's figures, as specifications that a page can draw."""

from __future__ import annotations

import json

import pytest

from equipoise.dashboard.charts import charts
from equipoise.dashboard.excerpt import excerpt
from equipoise.dashboard.view import Dashboard
from equipoise.report.figures import figures
from equipoise.report.source import FigureSource
from equipoise.report.words import words
from equipoise.store import read

from .conftest import written_run


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_figures_are_those_of_the_report(shared: Dashboard, done: list[str], language: str) -> None:
    run, say = read.find_run(shared.store, done[0]), words(language)
    recording = excerpt(shared.store, run).finite()
    partition = read.partition(shared.store, str(run.partition))
    expected = {figure.key: figure for figure in figures(FigureSource(run, recording, partition, {}), say)}
    found = charts(shared.store, run, language)
    assert found.charts
    assert {chart.key for chart in found.charts} <= expected.keys()
    for chart in found.charts:
        assert chart.title == say(f"figure.{chart.key}")
        assert expected[chart.key].note in chart.caption
        assert chart.height > 0


def test_a_specification_holds_its_data_and_asks_nobody_for_more(shared: Dashboard, done: list[str]) -> None:
    for chart in charts(shared.store, read.find_run(shared.store, done[0]), "en").charts:
        assert "width" not in chart.spec
        assert chart.spec["autosize"]["type"] == "fit"
        text = json.dumps(chart.spec, allow_nan=False)
        assert '"url"' not in text
        assert "vega-lite" in chart.spec["$schema"]


def test_the_theme_of_others_is_left_alone(shared: Dashboard, done: list[str]) -> None:
    import altair as alt

    before = alt.theme.active
    charts(shared.store, read.find_run(shared.store, done[0]), "en")
    assert alt.theme.active == before


def test_a_run_without_numbers_has_no_figure_that_needs_some(board: Dashboard) -> None:
    written_run(board.store)
    run = read.find_run(board.store, "fedavg-000001")
    assert charts(board.store, run, "en").charts == []
