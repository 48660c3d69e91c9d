"""The result of a search: what is in its table, its pictures and its sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equipoise.report.draw import draw
from equipoise.report.figure import BarChart, LineChart
from equipoise.report.figure_table import markdown_of
from equipoise.report.figures.search import search_figures
from equipoise.report.search import SearchResult
from equipoise.report.search_table import chosen, header, rows
from equipoise.report.words import words
from equipoise.store.searches import SearchRecord, TrialRecord

PLAN = {
    "space": {"client.lr": {}, "method.name": {}},
    "seeds": [0, 1],
    "sampler": "tpe",
    "pruner": "median",
    "search_seed": 5,
    "window": 1,
}
SCORES = [("done", 0.5), ("failed", None), ("done", 0.75), ("pruned", None), ("done", 0.625)]


@pytest.fixture
def result() -> SearchResult:
    trials = [
        TrialRecord(i, {"client.lr": 0.1, "method.name": "fedavg"}, state, score, 1.5, (f"a{i}", f"b{i}"))
        for i, (state, score) in enumerate(SCORES)
    ]
    record = SearchRecord("mine", PLAN, {"client.lr": 0.8, "method.name": 0.2}, "now")
    return SearchResult(record, trials, "accuracy/validation", "accuracy/merged", 0.7)


def test_only_the_chosen_trial_shows_test(result: SearchResult) -> None:
    say = words("en")
    assert header(result, say) == ["trial", "lr", "method", "validation", "test", "state", "seconds"]
    shown = rows(result, say)
    assert shown[2] == ["2 *", "0.1", "fedavg", "75.00 %", "70.00 %", "done", "1.5"]
    assert shown[3] == ["3", "0.1", "fedavg", "–", "–", "pruned", "1.5"]
    assert [row[4] for row in shown] == ["–", "–", "70.00 %", "–", "–"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_budget_names_trials_seeds_time_and_what_was_pruned(result: SearchResult, language: str) -> None:
    said = result.budget(words(language))
    for number in ("5", "1", "2", "10", "7.5 s", "tpe", "median"):
        assert number in said
    assert "client.lr=0.1 method=fedavg" in chosen(result, words(language))
    assert "70.00 %" in chosen(result, words(language))


def test_nothing_done_is_said_and_nothing_is_drawn(result: SearchResult) -> None:
    none = replace(result, trials=result.trials[1:2], metric="", test=None)
    assert none.best is None
    assert none.to_json()["best"] is None
    assert chosen(none, words("en")) == "No trial is done."
    assert list(search_figures(none, words("en"))) == []


def test_the_best_so_far_never_falls(result: SearchResult) -> None:
    history, importance = search_figures(result, words("en"))
    assert isinstance(history, LineChart)
    assert isinstance(importance, BarChart)
    best, each = history.lines
    assert (list(best.steps), list(best.values)) == ([0, 2, 4], [0.5, 0.75, 0.75])
    assert list(each.values) == [0.5, 0.75, 0.625]
    assert importance.bars == {"client.lr": 0.8, "method": 0.2}


def test_the_axis_counts_trials_in_the_chart_and_in_the_table(result: SearchResult) -> None:
    history, _ = search_figures(result, words("en"))
    spec = str(draw(history, words("en")).to_dict())
    assert "'title': 'trial'" in spec
    assert "checkpoint" not in spec
    assert "| trial | best so far | each trial |" in markdown_of(history, words("en"))


def test_json_has_the_budget_and_the_error_of_what_failed_only(result: SearchResult) -> None:
    found = replace(result, trials=[replace(each, error="why") for each in result.trials]).to_json()
    assert found["budget"] == {"trials": 5, "seeds": 2, "seconds": 7.5, "done": 3, "pruned": 1, "failed": 1} | {
        "sampler": "tpe", "pruner": "median", "search_seed": 5, "window": 1,
    }  # fmt: skip
    assert [row["error"] for row in found["trials"]] == [None, "why", None, None, None]
    assert found["best"]["trial"] == 2
