"""A search as pictures: the scores of its trials with the best so far, and how much each setting matters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from equipoise.report.figure import BarChart, ChartLine, Figure, LineChart
from equipoise.report.search import SearchResult
from equipoise.report.words import Say


def search_figures(result: SearchResult, say: Say) -> Iterator[Figure]:
    done = [(trial.number, trial.score) for trial in result.trials if trial.state == "done" and trial.score is not None]
    if not done:
        return
    numbers, scores = [number for number, _ in done], [score for _, score in done]
    yield LineChart(
        key="search-history",
        x=say("trial"),
        y=result.metric,
        lines=[
            ChartLine(say("search_best"), numbers, list(accumulate(scores, max))),
            ChartLine(say("search_each"), numbers, scores, is_dashed=True),
        ],
        is_share=True,
    )
    if result.record.importance:
        shares = {key.removesuffix(".name"): share for key, share in result.record.importance.items()}
        yield BarChart(key="search-importance", x="", y=say("search_share"), bars=shares, is_share=True)
