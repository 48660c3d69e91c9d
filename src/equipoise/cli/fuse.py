"""equipoise fuse"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.options import Json, StoreAt, print_json
from equipoise.cli.shell import offers

BESIDE = ("best_client", "probability_ensemble", "probe")
"""References for every server."""
MERGE = typer.Option(
    "--merge",
    help="plain, unit or counts; may be given several times.",
    show_default=False,
    autocompletion=offers.merges,
)
PREDICT = typer.Option(
    "--predict",
    help="A predictor, or `all`; may be given several times.",
    show_default=False,
    autocompletion=offers.predictors,
)
COMMON = typer.Option(
    "--common",
    help="filters or patches: the fixed features of common-….",
    show_default=False,
    autocompletion=offers.common,
)
SUMS = typer.Option(
    "--sums",
    help="markov, ridge or blend: users' sums beside a recommender.",
    show_default=False,
    autocompletion=offers.sums,
)


def fuse(
    run: Annotated[
        str, typer.Argument(help="A finished run: its id, or `latest`.", show_default=False, autocompletion=offers.runs)
    ],
    merge: Annotated[list[str] | None, MERGE] = None,
    predict: Annotated[list[str] | None, PREDICT] = None,
    common: Annotated[str | None, COMMON] = None,
    sums: Annotated[list[str] | None, SUMS] = None,
    path: Annotated[Path | None, typer.Option("--path", help="Data folder, if it has moved.")] = None,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Score other servers on the trained clients of a run; nothing is trained again.

    Every pair of a merge and a predictor is scored and stored as a run of its own, for one-shot runs on labelled
    samples. With --sums every user sends sums once, whose scores are added to a recommender's. Choose by validation.

    [bold]Examples[/]

      equipoise fuse latest --predict energy-gate

      equipoise fuse latest --merge plain --merge unit --merge counts --predict feature-average --predict anchors

      equipoise fuse latest --predict all --json

      equipoise fuse latest --predict common --predict common-correction --common patches

      equipoise fuse latest --sums blend
    """
    from equipoise.api.choose import open_run
    from equipoise.api.fuse import fuse as fuse_all

    fused = fuse_all(open_run(run, store=store), merge=merge, predict=predict, common=common, sums=sums, path=path)
    if as_json:
        print_json({"run_id": fused.source.id, "servers": list(fused.servers)})
    elif sums:
        print_ranked(fused.servers)
    else:
        print_table(fused.servers)


def print_table(lines: Sequence[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    from equipoise.api.fuse import best_of

    console = Console()
    run_id = Column("run", no_wrap=True, min_width=max(len(line["run_id"]) for line in lines))  # not cut, for copying
    table = Table("merge", "predict", "accuracy", "validation", run_id, box=None, header_style="bold")
    best = best_of(lines)
    for line in lines:
        features = "  (patches)" if line["common"] == "patches" else ""
        second = "  (second exchange)" if line["exchanges"] > 1 else ""
        mark = " *" if line is best and len(lines) > 1 else ""
        figures = [f"{100 * line[name]:.2f} %" for name in ("merged", "validation")]
        table.add_row(line["merge"], line["predict"] + features + second, figures[0] + mark, figures[1], line["run_id"])
    console.print(table)
    beside = [f"{name.replace('_', ' ')} {100 * lines[0][name]:.2f} %" for name in BESIDE]
    console.print(f"beside: {' · '.join(beside)}", highlight=False)
    if len(lines) > 1:
        console.print("* best of one exchange by validation; accuracy is on test", style="dim", highlight=False)


def print_ranked(lines: Sequence[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    shown = ("hr@10/full", "ndcg@10/full")
    console = Console()
    run_id = Column("run", no_wrap=True, min_width=max(len(line["run_id"]) for line in lines))
    table = Table("sums", *shown, "weight", run_id, box=None, header_style="bold")
    for line in lines:
        figures = [f"{line[name]:.4f}" for name in shown]
        table.add_row(line["sums"], *figures, f"{line['weight']:.1f}", line["run_id"])
    console.print(table)
    console.print("weight: of the sums beside the model, chosen on validation; figures are on test", style="dim")
