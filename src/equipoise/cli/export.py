"""equipoise export"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.options import Language, Runs, StoreAt, SweepName


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
PATH = typer.Option("--path", help="With torch or onnx: the data folder, if it has moved.", show_default=False)


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
    """Export figures as SVG, PNG or PDF, the results as a LaTeX table, all numbers as Parquet, or the trained model.

    `svg`, `png` and `pdf` write every figure of every run to a folder of its own, `latex` writes results.tex, and
    `parquet` writes metrics.parquet (run, step, round, client, name, value) with runs.json beside it. `torch` writes
    the model of one run as a folder that needs no Equipoise: weights.safetensors, card.json, and model.py in plain
    PyTorch. `onnx` writes model.onnx and card.json.

    [bold]Examples[/]

      equipoise export latest --to pdf -o figures

      equipoise export --sweep studies/demo-policies --to latex -o paper

      equipoise export latest --to torch -o my-model
    """
    from equipoise.api.export import export as write

    chosen: dict[str, Any] = {"sweep": sweep, "language": language.value, "store": store}
    for file in write(runs, to.value, output, client=client, path=path, **chosen):
        typer.echo(f"written: {file}")
