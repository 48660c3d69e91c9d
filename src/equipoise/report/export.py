"""Exports figures, tables and numbers of stored runs to files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from equipoise.diagnose.stored import stored
from equipoise.report import table
from equipoise.report.comparison import compare
from equipoise.report.draw import draw
from equipoise.report.figures import figures
from equipoise.report.files import save, write_text, writing
from equipoise.report.runs import compared
from equipoise.report.source import source
from equipoise.report.words import words
from equipoise.store import metrics
from equipoise.store.records import Run
from equipoise.store.transact import Store


def write_figures(store: Store, runs: Sequence[Run], folder: Path, form: str, language: str) -> list[Path]:
    """Writes every figure of every run to <folder>/<run>/<figure>.<form>."""
    say, written = words(language), []
    for run in runs:
        for figure in figures(source(store, run, stored(store, run)), say):
            picture = draw(figure, say).properties(title=say(f"figure.{figure.key}"))
            written.append(folder / run.run_id / f"{figure.key}.{form}")
            save(picture, written[-1])
    return written


def write_results(store: Store, runs: Sequence[Run], labels: Mapping[str, str], folder: Path) -> list[Path]:
    """Writes the table of `compare` to <folder>/results.tex."""
    path = folder / "results.tex"
    write_text(path, table.latex(compare(compared(store, runs, labels))) + "\n")
    return [path]


def write_numbers(store: Store, runs: Sequence[Run], folder: Path) -> list[Path]:
    """Writes all numbers in the long form that `diagnose` reads, and a table of the runs."""
    numbers, about = folder / "metrics.parquet", folder / "runs.json"
    found = metrics.metrics(store, [run.run_id for run in runs]).rename({"run_id": "run"})
    with writing(numbers):
        found.write_parquet(numbers)
    write_text(about, json.dumps([_about(run) for run in runs], indent=2, ensure_ascii=False) + "\n")
    return [numbers, about]


def _about(run: Run) -> dict[str, object]:
    private = ("environment", "updated")
    return {key: value for key, value in asdict(run).items() if key not in private}
