"""equipoise fuse"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.options import Json, StoreAt, print_json
from equipoise.core.exchanges import SECOND_EXCHANGE

if TYPE_CHECKING:
    from equipoise.store.records import Run
    from equipoise.store.transact import Store

BESIDE = ("best_client", "probability_ensemble", "probe")
"""What every server is measured against."""
MERGE = typer.Option("--merge", help="plain, unit or counts; may be given several times.", show_default=False)
PREDICT = typer.Option("--predict", help="A way to predict, or `all`; may be given several times.", show_default=False)


def fuse(
    run: Annotated[str, typer.Argument(help="A finished one-shot run: its id, or `latest`.", show_default=False)],
    merge: Annotated[list[str] | None, MERGE] = None,
    predict: Annotated[list[str] | None, PREDICT] = None,
    path: Annotated[Path | None, typer.Option("--path", help="Data folder, if it moved since.")] = None,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Other servers on the clients of a run: nothing is trained again.

    Every pair of a merge and a predict is scored and stored as a run of its own. Choose among them by validation.

    [bold]Examples[/]

      equipoise fuse latest --predict energy-gate

      equipoise fuse latest --merge plain --merge unit --merge counts --predict feature-average --predict anchors

      equipoise fuse latest --predict all --json
    """
    from equipoise.run.fuse import fuse as fuse_all
    from equipoise.run.fuse import servers_of
    from equipoise.store.database import open_existing
    from equipoise.store.read import find_run

    with open_existing(store) as opened:
        source = find_run(opened, run)
        ids = fuse_all(opened, source, servers_of(source, merge or [], predict or []), path)
        lines = [line_of(opened, find_run(opened, run_id)) for run_id in ids]
    if as_json:
        print_json({"run_id": source.run_id, "servers": lines})
    else:
        print_table(lines)


def line_of(store: Store, run: Run) -> dict[str, Any]:
    from equipoise.config.schema import check
    from equipoise.method.resolve import resolve
    from equipoise.run.fuse import RIVAL
    from equipoise.store.metrics import final_metrics

    config, metrics = check(run.config), final_metrics(store, run.run_id)
    predict = str(resolve(config).predict)
    figures = ("accuracy/merged", "accuracy/validation", "accuracy/best_client", "accuracy/probe")
    return {
        "run_id": run.run_id,
        "merge": config.server.merge or "plain",
        "predict": predict,
        "exchanges": 2 if predict in SECOND_EXCHANGE else 1,
        **{name.removeprefix("accuracy/"): metrics.get(name) for name in figures},
        "probability_ensemble": metrics.get(f"accuracy/merged/{RIVAL}"),
    }


def print_table(lines: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    console = Console()
    run_id = Column("run", no_wrap=True, min_width=max(len(line["run_id"]) for line in lines))  # whole, to be copied
    table = Table("merge", "predict", "accuracy", "validation", run_id, box=None, header_style="bold")
    best = max(lines, key=lambda line: (line["exchanges"] == 1, line["validation"]))
    for line in lines:
        second = "  (second exchange)" if line["exchanges"] > 1 else ""
        mark = " *" if line is best and len(lines) > 1 else ""
        figures = [f"{100 * line[name]:.2f} %" for name in ("merged", "validation")]
        table.add_row(line["merge"], line["predict"] + second, figures[0] + mark, figures[1], line["run_id"])
    console.print(table)
    beside = [f"{name.replace('_', ' ')} {100 * lines[0][name]:.2f} %" for name in BESIDE]
    console.print(f"beside: {' · '.join(beside)}", highlight=False)
    if len(lines) > 1:
        console.print("* best of one exchange by validation; accuracy is on test", style="dim", highlight=False)
