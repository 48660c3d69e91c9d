from __future__ import annotations

import altair as alt
import pytest

import equipoise as eq


def test_a_figure_is_an_altair_chart_with_its_title(in_rounds: eq.RunHandle) -> None:
    chart = in_rounds.figure("accuracy")
    assert isinstance(chart, alt.LayerChart)
    assert chart.to_dict()["title"]
    assert "accuracy" in in_rounds.figures()


def test_a_figure_that_the_run_has_not(in_rounds: eq.RunHandle) -> None:
    with pytest.raises(eq.UnknownName, match="did you mean 'accuracy'"):
        in_rounds.figure("acuracy")
