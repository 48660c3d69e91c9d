"""equipoise export"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import Language, Runs, StoreAt, SweepName, chosen_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from equipoise.store.records import Run
    from equipoise.store.transact import Store


class To(StrEnum):
    svg = "svg"
    png = "png"
    pdf = "pdf"
    latex = "latex"
    parquet = "parquet"
    torch = "torch"
    onnx = "onnx"


WHAT = "Figures, the table of results, the recorded numbers, or the trained model."
CLIENT = typer.Option("--client", help="With torch or onnx: this client's own model.", show_default=False)
PATH = typer.Option("--path", help="With torch or onnx: the data folder, if it moved since.", show_default=False)


def export(
    runs: Runs = None,
    to: Annotated[To, typer.Option("--to", help=WHAT)] = To.svg,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")] = Path("export"),
    sweep: SweepName = None,
    language: Annotated[Language, typer.Option("--lang", help="Language of the figures.")] = Language.en,
    client: Annotated[int | None, CLIENT] = None,
    path: Annotated[Path | None, PATH] = None,
    store: StoreAt = None,
) -> None:
    """Take things out: figures as SVG, PNG or PDF, results as a LaTeX table, numbers as Parquet, the model itself.

    `svg`, `png` and `pdf` write every figure of every run to a folder of its own, `latex` writes results.tex, and
    `parquet` writes metrics.parquet (run, step, round, client, name, value) with runs.json beside it. `torch` writes
    the model of one run as a folder that needs no Equipoise: weights.safetensors, card.json, and model.py in plain
    PyTorch. `onnx` writes model.onnx and card.json.

    [bold]Examples[/]

      equipoise export latest --to pdf -o figures

      equipoise export --sweep studies/demo --to latex -o paper

      equipoise export latest --to torch -o my-model
    """
    from equipoise.store.database import open_existing

    with open_existing(store) as opened:
        chosen, labels = chosen_runs(opened, runs, sweep)
        if to is To.torch or to is To.onnx:
            from equipoise.deploy.folder import write_model

            written = write_model(opened, chosen, "torch" if to is To.torch else "onnx", output, (client, path))
        else:
            _require_model_options_unset(client, path)
            written = _write_report(opened, chosen, labels, to, output, language)
    for file in written:
        typer.echo(f"written: {file}")


def _write_report(
    store: Store, runs: Sequence[Run], labels: dict[str, str], to: To, output: Path, language: Language
) -> list[Path]:
    from equipoise.report import export as out

    if to is To.latex:
        return out.write_results(store, runs, labels, output)
    if to is To.parquet:
        return out.write_numbers(store, runs, output)
    return out.write_figures(store, runs, output, to.value, language.value)


def _require_model_options_unset(client: int | None, path: Path | None) -> None:
    from equipoise.core.errors import ConfigError

    given = [name for name, value in (("--client", client), ("--path", path)) if value is not None]
    if given:
        fix = "leave it out, or add --to torch"
        raise ConfigError(f"{given[0]} is for models alone, as --to torch and --to onnx write them", fix=fix)
