"""What `run` and `resume` share: following a run, ending it cleanly on Ctrl-C, and printing it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from equipoise.cli.event_files import EventFiles
from equipoise.cli.options import print_json
from equipoise.cli.progress import watcher
from equipoise.cli.rankings import rankings
from equipoise.core.exchanges import SECOND_EXCHANGE

if TYPE_CHECKING:
    from equipoise.run.watch import Watch
    from equipoise.store.transact import Store


RANKINGS = ("hr@", "ndcg@", "mrr/")


def followed(work: Callable[[Watch], str], events: Path | None = None) -> str:
    """Do the work; Ctrl-C or SIGTERM ends it with everything so far kept and the way to go on printed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = watcher() if events is None else EventFiles(events, watcher())
    try:
        return work(watch)
    except KeyboardInterrupt:
        go_on = f"; go on with: equipoise resume {watch.run_id}" if watch.run_id else ""
        print(f"stopped{go_on}", file=sys.stderr)
        raise typer.Exit(130) from None


def print_run(store: Store, run_id: str, as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from equipoise.diagnose.words import LABELS, healing
    from equipoise.report.runs import shown
    from equipoise.store import read

    document = shown(store, read.find_run(store, run_id))
    if as_json:
        print_json(document)
        return
    console = Console()
    style = {"done": "green", "running": "cyan"}.get(document["status"], "red")
    console.print(f"[bold]{run_id}[/]  [{style}]{document['status']}[/]", highlight=False)
    if document["error"]:
        console.print(document["error"], style="red", markup=False, highlight=False)
    for part in rankings(document):
        console.print(part, highlight=False)
    table = Table("metric", "value", box=None, header_style="bold")
    twice = {name for name in document["metrics"] if name.rpartition("/")[2] in SECOND_EXCHANGE}
    if document["config"]["server"]["predict"] in SECOND_EXCHANGE:
        twice |= {"accuracy/merged", "accuracy/validation"}
    for name, value in document["metrics"].items():
        if not name.startswith(("recall/", "bytes/", "hash/", "input/", *RANKINGS)):
            mark = " †" if name in twice else ""
            table.add_row(name + mark, f"{100 * value:.2f} %" if name.startswith("accuracy") else f"{value:.4g}")
    for way, total in document["bytes"].items():
        table.add_row(f"bytes {way}, whole run", f"{total:,.0f}")
    console.print(table)
    if twice:
        console.print("† needs the clients a second time, after their upload", style="dim", highlight=False)
    if document["best"] and document["headline"].startswith("accuracy/"):
        best = document["best"]
        where = f"checkpoint {best['step'] + 1}, chosen on validation"
        console.print(f"best by validation: {100 * best['value']:.2f} % ({where})", highlight=False)
    for finding in document["findings"]:
        style = {"error": "red", "warning": "yellow"}.get(finding["severity"], "cyan")
        console.print(f"[{style}]{finding['severity']}[/] {finding['code']}: {finding['saw']}", highlight=False)
        if finding.get("healed"):
            console.print(f"  {healing(finding['healed'], LABELS['en'])}", style="green", highlight=False)
    if document["findings"]:
        console.print(f"why, and what to change: equipoise diagnose {run_id}", style="dim", highlight=False)
    console.print(f"stored in {store.location}", style="dim", highlight=False)
