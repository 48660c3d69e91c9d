"""Figures, results and numbers of runs as files of their own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from equipoise.api.choose import AnyRun, chosen_runs, named
from equipoise.api.place import StoreAt, existing
from equipoise.core.errors import Problem, UnknownName

Form = Literal["svg", "png", "pdf", "latex", "parquet"]


def export(
    runs: AnyRun | Iterable[AnyRun] | None = None,
    to: Form = "svg",
    folder: str | Path = "export",
    *,
    sweep: str | None = None,
    language: str = "en",
    store: StoreAt = None,
) -> list[Path]:
    """Write figures ("svg", "png", "pdf"), the table of results ("latex") or all numbers ("parquet") to a folder.

    Returns:
        The files that were written.
    """
    from equipoise.core.registry import suggestion
    from equipoise.report import export as out

    if to not in get_args(Form):
        raise UnknownName([Problem("to", f"form '{to}' is not known{suggestion(to, list(get_args(Form)))}")])
    output, (ids, place) = Path(folder), named(runs, store)
    with existing(place) as opened:
        chosen = chosen_runs(opened, ids, sweep)
        if to == "latex":
            return out.write_results(opened, chosen.runs, chosen.labels, output)
        if to == "parquet":
            return out.write_numbers(opened, chosen.runs, output)
        return out.write_figures(opened, chosen.runs, output, to, language)
