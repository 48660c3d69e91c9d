"""equipoise export"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.options import Language, Runs, StoreAt, SweepName
from equipoise.core.errors import ConfigError


class To(StrEnum):
    svg = "svg"
    png = "png"
    pdf = "pdf"
    latex = "latex"
    parquet = "parquet"
    torch = "torch"
    onnx = "onnx"
    mlflow = "mlflow"
    wandb = "wandb"
    tensorboard = "tensorboard"


TRACKER_FORMS = (To.mlflow, To.wandb, To.tensorboard)
WHAT = "Figures, the table of results, the recorded numbers, the trained model; or a tracker to send the curves to."
CLIENT = typer.Option("--client", help="With torch or onnx: this client's own model.", show_default=False)
SETTINGS = typer.Option(
    "--set", metavar="KEY=VALUE", help="With a tracker: a setting of it, as in uri=http://…; may be repeated."
)
PATH = typer.Option("--path", help="With torch or onnx: the data folder, if it has moved.", show_default=False)


def export(
    runs: Runs = None,
    to: Annotated[To, typer.Option("--to", help=WHAT)] = To.svg,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")] = Path("export"),
    sweep: SweepName = None,
    language: Annotated[Language, typer.Option("--lang", help="Language of the figures.")] = Language.en,
    client: Annotated[int | None, CLIENT] = None,
    path: Annotated[Path | None, PATH] = None,
    settings: Annotated[list[str] | None, SETTINGS] = None,
    store: StoreAt = None,
) -> None:
    """Export figures as SVG, PNG or PDF, the results as a LaTeX table, all numbers as Parquet, or the trained model.

    `svg`, `png` and `pdf` write every figure of every run to a folder of its own, `latex` writes results.tex, and
    `parquet` writes metrics.parquet (run, step, round, client, name, value) with runs.json beside it. `torch` writes
    the model of one run as a folder that needs no Equipoise: weights.safetensors, card.json, and model.py in plain
    PyTorch. `onnx` writes model.onnx and card.json. `mlflow`, `wandb` and `tensorboard` send the curves of finished
    runs to that tracker; what it has already is not sent again.

    [bold]Examples[/]

      equipoise export latest --to pdf -o figures

      equipoise export --sweep studies/demo-policies --to latex -o paper

      equipoise export latest --to torch -o my-model

      equipoise export latest --to mlflow --set uri=http://127.0.0.1:5000
    """
    if to in TRACKER_FORMS:
        send_to(to, runs, sweep, settings or [], output, store)
        return
    if settings:
        raise ConfigError("--set is for trackers alone", where="--set", fix="leave it out, or export to a tracker")
    from equipoise.api.export import export as write

    chosen: dict[str, Any] = {
        "to": to.value,
        "folder": output,
        "sweep": sweep,
        "language": language.value,
        "store": store,
    }
    for file in write(runs, client=client, path=path, **chosen):
        typer.echo(f"written: {file}")


def send_to(
    to: To, runs: list[str] | None, sweep: str | None, settings: list[str], output: Path, store: str | None
) -> None:
    """Send runs to a tracker; event files go to the folder of `--output` unless `--set folder=…` says another."""
    from equipoise.api.trackers import send
    from equipoise.diagnose.foreign import parse_facts

    given, dotted = parse_facts(settings)
    if dotted:
        raise ConfigError(f"'{next(iter(dotted))}' is not a setting of {to.value}", where="--set", fix="as in uri=…")
    if to is To.tensorboard:
        given.setdefault("folder", str(output))
    for sent in send(runs, to.value, given, sweep=sweep, store=store):
        what = f"{sent.points} points sent" if sent.points else "nothing was lacking"
        typer.echo(f"{sent.run_id} is {sent.remote} at {sent.place}: {what}")
