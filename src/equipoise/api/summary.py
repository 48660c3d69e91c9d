"""A run as text: its headline first, then every server, then the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from equipoise.api.rankings import rankings
from equipoise.core.exchanges import needs_second_exchange

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from equipoise.api.handle import RunHandle

TEST, VALIDATION = "accuracy/merged/", "accuracy/validation/"
ELSEWHERE = ("accuracy/merged", "accuracy/validation", "recall/", "bytes/", "hash/", "input/", "hr@", "ndcg@", "mrr/")
"""Metrics that the last table leaves out: they are shown above it, or are too many."""
STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}


def print_run(run: RunHandle, place: str | None = None) -> None:
    """Print the run; `place` is the name to show for the store instead of its full path."""
    from rich.console import Console

    from equipoise.report.card import plugin_text

    document = run.summary()
    console = Console(highlight=False)
    style = {"done": "green", "running": "cyan"}.get(document["status"], "red")
    console.print(f"[bold]{run.id}[/]  [{style}]{document['status']}[/]")
    if document["error"]:
        console.print(document["error"], style="red", markup=False)
    for line in headline(document):
        console.print(line, soft_wrap=True)
    for part in rankings(document):
        console.print(part)
    for table in (servers(document), rest(document)):
        if table.row_count:
            console.print(table)
    if is_second_exchange(document) or any(map(needs_second_exchange, _servers(document))):
        console.print("† needs the clients a second time, after their upload", style="dim")
    _findings(console, document)
    for plugin in document["plugins"]:
        console.print(plugin_text(plugin), style="dim", soft_wrap=True, markup=False)
    console.print(f"stored in {place or run.place}", style="dim", soft_wrap=True)


def headline(document: Mapping[str, Any]) -> Iterator[str]:
    """The figure that a table would show, what validation chose, and why the run ended early."""
    from rich.markup import escape

    name, metrics, best = document["headline"], document["metrics"], document["best"]
    if name.startswith("accuracy/") and name in metrics:
        validation = metrics.get("accuracy/validation")
        beside = "" if validation is None else f"  (validation {_per_cent(validation)})"
        mark = " †" if is_second_exchange(document) else ""
        yield f"[bold]{escape(name)}{mark} {_per_cent(metrics[name])}[/]{beside}"
        if best and best["value"] != metrics[name]:
            yield f"best by validation {_per_cent(best['value'])}, at checkpoint {best['step'] + 1}"
        yield from _before_healing(document)
    yield from (event["message"] for event in document["events"] if event["kind"] == "stopped-early")


def is_second_exchange(document: Mapping[str, Any]) -> bool:
    """Whether the run's own server needs the clients again after their upload."""
    return any(map(needs_second_exchange, document["predict"][-1:]))


def _before_healing(document: Mapping[str, Any]) -> Iterator[str]:
    """The same figure with the server that a guard replaced: the gain of a better server is not better training."""
    for old in document["predict"][:-1]:
        if (value := document["metrics"].get(f"{TEST}{old}")) is not None:
            yield f"with '{old}', the server before it was healed, {_per_cent(value)}"


def servers(document: Mapping[str, Any]) -> Table:
    """Every predictor that was scored on the same clients, the best on validation first."""
    from rich.markup import escape
    from rich.table import Table

    found = _servers(document)
    table = Table("server", "test", "validation", box=None, header_style="bold")
    for name in sorted(found, key=lambda name: -found[name][1]):
        test, validation = found[name]
        mark = " †" if needs_second_exchange(name) else "  ← this run" if name in document["predict"][-1:] else ""
        table.add_row(f"{escape(name)}{mark}", f"{_per_cent(test)}", f"{_per_cent(validation)}")
    return table


def _servers(document: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """(test, validation) by name."""
    metrics = document["metrics"]
    names = [name.removeprefix(TEST) for name in metrics if name.startswith(TEST)]
    return {name: (metrics[TEST + name], metrics.get(VALIDATION + name, float("nan"))) for name in names}


def rest(document: Mapping[str, Any]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table("metric", "value", box=None, header_style="bold")
    for name, value in document["metrics"].items():
        if not name.startswith(ELSEWHERE) and name != document["headline"]:
            table.add_row(escape(name), f"{_per_cent(value)}" if name.startswith("accuracy") else f"{value:.4g}")
    for way, total in document["bytes"].items():
        table.add_row(f"bytes {way}, whole run", f"{total:,.0f}")
    return table


def _findings(console: Console, document: Mapping[str, Any]) -> None:
    from rich.markup import escape

    from equipoise.diagnose.words import healing, labels

    for finding in document["findings"]:
        said = f"[{STYLES[finding['severity']]}]{finding['severity']}[/] {finding['code']}: {escape(finding['saw'])}"
        console.print(said, soft_wrap=True)
        if finding.get("healed"):
            console.print(f"  {healing(finding['healed'], labels('en'))}", style="green", soft_wrap=True)
    if document["findings"]:
        console.print(f"why, and what to change: equipoise diagnose {document['run_id']}", style="dim")


def _per_cent(share: float) -> str:
    return f"{100 * share:.2f} %"
