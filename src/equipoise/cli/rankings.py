"""How `run` and `show` print a recommender: both protocols at the end, or a stream slice by slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

BESIDE = ("markov", "itempop", "chance")
HEADLINE = "hr@10/full"


def rankings(document: Mapping[str, Any]) -> Iterator[Table | str]:
    """What there is to print of a stored run; nothing of one that ranks nothing."""
    stream = document["stream"]
    if stream and stream["slices"]:
        yield _slices(stream["slices"])
        if stream["change"]:
            yield _change(stream["change"])
    if table := _protocols(document["metrics"], "last slice" if stream else "test"):
        yield table
    if f"{HEADLINE}/over_markov" in document["metrics"]:
        yield _over_markov(document["metrics"])


def _slices(slices: Sequence[Mapping[str, float | None]]) -> Table:
    """Every slice that was scored before anybody trained on it; columns that no slice has are left out."""
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
    return f"at their alarms {change['users']} users go from {HEADLINE} {level} to {low}, {back}"


def _protocols(metrics: Mapping[str, float], of: str) -> Table | None:
    """The figures of a recommender under both protocols, with their intervals, beside scorers that know less; columns
    that no figure has are left out."""
    from rich.table import Table

    names = [f"{kind}/{protocol}" for protocol in ("full", "uni100") for kind in ("hr@10", "ndcg@10", "mrr")]
    names = [name for name in names if name in metrics]
    columns = {
        "value": [f"{metrics[name]:.4f}" for name in names],
        "95 %": [_interval(metrics, name) for name in names],
    }
    for who in BESIDE:
        found = (metrics.get(f"{name}/{who}") for name in names)
        columns[who] = ["" if value is None else f"{value:.4f}" for value in found]
    columns = {title: cells for title, cells in columns.items() if any(cells)}
    if not columns:
        return None
    table = Table(of, *columns, box=None, header_style="bold")
    for row in zip(names, *columns.values(), strict=True):
        table.add_row(*row)
    return table


def _interval(metrics: Mapping[str, float], name: str) -> str:
    low, high = metrics.get(f"{name}/low"), metrics.get(f"{name}/high")
    return f"{low:.3f} … {high:.3f}" if low is not None and high is not None else ""


def _over_markov(metrics: Mapping[str, float]) -> str:
    """Whether the model beats the table that every claim must beat."""
    mean, low, high = (100 * metrics[f"{HEADLINE}/over_markov{end}"] for end in ("", "/low", "/high"))
    where = "above" if low > 0 else "below" if high < 0 else "level with"
    return f"{HEADLINE}: {where} Markov, {mean:+.1f} points, 95 % over users {low:+.1f} … {high:+.1f}"
