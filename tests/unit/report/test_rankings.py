from __future__ import annotations

import pytest

from equipoise.report.rankings import rankings
from equipoise.report.words import words

METRICS = {
    "hr@10/full": 0.2,
    "hr@10/full/low": 0.15,
    "hr@10/full/high": 0.25,
    "hr@10/full/markov": 0.19,
    "hr@10/full/chance": 0.01,
    "mrr/full": 0.1,
    "mrr/full/markov": 0.09,
    "bytes/up": 8.0,
}


def test_figures_beside_whoever_only_counts_and_no_empty_columns():
    found = rankings(METRICS, is_stream=False, say=words("en"))
    assert found is not None
    assert found.header == ["test", "value", "95 %", "Markov", "chance"]
    assert found.rows == [
        ("hr@10/full", "0.2000", "0.150 … 0.250", "0.1900", "0.0100"),
        ("mrr/full", "0.1000", "", "0.0900", ""),
    ]
    assert found.floor == ""


def test_a_stream_says_of_what_its_figures_are():
    found = rankings({"hr@10/full": 0.2}, is_stream=True, say=words("zh"))
    assert found is not None
    assert found.header == ["最后一个时间片", "数值"]


@pytest.mark.parametrize(
    ("low", "high", "where"),
    [(0.01, 0.03, "above Markov"), (-0.03, -0.01, "below Markov"), (-0.01, 0.05, "level with Markov")],
)
def test_whether_it_beats_the_markov_table(low, high, where):
    over = {"hr@10/full/over_markov": (low + high) / 2}
    over |= {"hr@10/full/over_markov/low": low, "hr@10/full/over_markov/high": high}
    found = rankings(METRICS | over, is_stream=False, say=words("en"))
    assert found is not None
    mean = 50 * (low + high)
    assert (
        found.floor == f"hr@10/full: {where}, {mean:+.1f} points, 95 % over users {100 * low:+.1f} … {100 * high:+.1f}"
    )


def test_whoever_ranks_nothing_has_none():
    assert rankings({"accuracy/merged": 0.9}, is_stream=False, say=words("en")) is None
