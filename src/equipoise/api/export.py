"""Writes figures, results, numbers and models of runs to files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from equipoise.api.choose import AnyRun, chosen_runs, named
from equipoise.api.place import StoreAt, existing
from equipoise.core.errors import ConfigError, Problem, UnknownName

Form = Literal["svg", "png", "pdf", "latex", "parquet", "torch", "onnx"]
MODELS = ("torch", "onnx")


def export(
    runs: AnyRun | Iterable[AnyRun] | None = None,
    to: Form = "svg",
    folder: str | Path = "export",
    *,
    sweep: str | None = None,
    language: str = "en",
    client: int | None = None,
    path: str | Path | None = None,
    store: StoreAt = None,
) -> list[Path]:
    """Write figures ("svg", "png", "pdf"), the table of results ("latex"), all numbers ("parquet") or the model of one
    run ("torch", "onnx") to a folder.

    Args:
        client: for a model, this client's own; otherwise the server's.
        path: for a model, the data folder, if it has moved.

    Returns:
        The files that were written.
    """
    from equipoise.core.registry import suggestion
    from equipoise.report import export as out

    if to not in get_args(Form):
        raise UnknownName([Problem("to", f"form '{to}' is not known{suggestion(to, list(get_args(Form)))}")])
    given = [name for name, value in (("client", client), ("path", path)) if value is not None]
    if given and to not in MODELS:
        fix = "leave it out, or export to torch"
        raise ConfigError(f"{given[0]} is for models alone, as torch and onnx write them", where=given[0], fix=fix)
    output, (ids, place) = Path(folder), named(runs, store)
    with existing(place) as opened:
        chosen = chosen_runs(opened, ids, sweep)
        if to in MODELS:
            from equipoise.deploy.folder import write_model

            where = Path(path) if path is not None else None
            return write_model(opened, chosen.runs, "torch" if to == "torch" else "onnx", output, (client, where))
        if to == "latex":
            return out.write_results(opened, chosen.runs, chosen.labels, output)
        if to == "parquet":
            return out.write_numbers(opened, chosen.runs, output)
        return out.write_figures(opened, chosen.runs, output, to, language)
