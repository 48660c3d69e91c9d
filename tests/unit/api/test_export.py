from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import equipoise as eq


def test_numbers_and_results(in_rounds: eq.RunHandle, tmp_path: Path) -> None:
    numbers, about = eq.export(in_rounds, "parquet", tmp_path)
    assert pl.read_parquet(numbers).drop("run").equals(in_rounds.metrics(), null_equal=True)
    assert in_rounds.id in about.read_text()
    (results,) = eq.export([in_rounds], "latex", tmp_path)
    assert results.read_text().strip() == eq.compare(in_rounds).to_latex().strip()


def test_every_figure_is_a_file(in_rounds: eq.RunHandle, tmp_path: Path) -> None:
    written = eq.export(in_rounds, "svg", tmp_path)
    assert [path.stem for path in written] == in_rounds.figures()


def test_a_form_nobody_knows(in_rounds: eq.RunHandle, tmp_path: Path) -> None:
    with pytest.raises(eq.UnknownName, match="did you mean 'png'"):
        eq.export(in_rounds, "pngg", tmp_path)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
