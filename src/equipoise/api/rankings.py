"""A recommender's run as text: both protocols at the end, or a stream slice by slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def rankings(document: Mapping[str, Any]) -> Iterator[Table | str]:
    """The tables to print for a stored run; empty if it is not a recommender's."""
    from rich.table import Table

    from equipoise.report.rankings import rankings as of_metrics
    from equipoise.report.words import words

    stream = document["stream"]
    if stream and stream["slices"]:
        yield _slices(stream["slices"])
        if stream["change"]:
            yield _change(stream["change"])
    if found := of_metrics(document["metrics"], bool(stream), words("en")):
        table = Table(*found.header, box=None, header_style="bold")
        for row in found.rows:
            table.add_row(*row)
        yield table
        if found.floor:
            yield found.floor


def _slices(slices: Sequence[Mapping[str, float | None]]) -> Table:
    """One row per scored slice; columns that no slice has are left out."""
    from rich.table import Table

    names = [name for name in slices[0] if any(of[name] is not None for of in slices)]
    table = Table("slice", *names, box=None, header_style="bold")
    for number, of in enumerate(slices, 1):
        cells = ("" if of[n] is None else f"{of[n]:.0f}" if n == "alarms" else f"{of[n]:.4f}" for n in names)
        table.add_row(str(number), *cells)
    return table


def _change(change: Mapping[str, Any]) -> str:
    after = {None: "not back since", 0: "at once within 5 % of it", 1: "within 5 % of it one slice later"}
    back = after.get(change["back"], f"within 5 % of it {change['back']} slices later")
    level, low = (f"{100 * value:.1f} %" for value in (change["level"], change["level"] - change["drop"]))
    return f"at their alarms {change['users']} users go from hr@10/full {level} to {low}, {back}"
