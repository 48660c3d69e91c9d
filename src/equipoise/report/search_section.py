"""The part of a report that says how its settings were found: the choice, what the search took, all its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.report.figure import Figure
from equipoise.report.figures.search import search_figures
from equipoise.report.search import search_result
from equipoise.report.search_table import chosen, header, rows
from equipoise.report.words import Say
from equipoise.store.records import Run
from equipoise.store.searches import search_of
from equipoise.store.transact import Store


@dataclass(frozen=True)
class SearchSection:
    sentences: Sequence[str]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Sequence[Figure]


def search_section(store: Store, runs: Sequence[Run], say: Say) -> SearchSection | None:
    """Of the search that the runs are trials of; None if they are of none."""
    record = search_of(store, [run.run_id for run in runs])
    if record is None:
        return None
    result = search_result(store, record.sweep)
    sentences = [chosen(result, say), result.budget(say)]
    return SearchSection(sentences, header(result, say), rows(result, say), list(search_figures(result, say)))
