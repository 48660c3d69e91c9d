"""Following a sweep: a live table on a terminal, one line per finished cell elsewhere. Everything goes to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from equipoise.run.places import Place


class SweepProgress:
    """A live table on a terminal, one line per finished cell elsewhere."""

    def __enter__(self) -> Callable[[Sequence[Place]], None]:
        from rich.console import Console
        from rich.live import Live

        self.reported: set[int] = set()
        self.started = time.monotonic()
        self.console = Console(stderr=True)
        self.live = Live(console=self.console, transient=True) if sys.stderr.isatty() else None
        if self.live:
            self.live.start()
        return self.follow

    def __exit__(self, *exc: object) -> None:
        if self.live:
            self.live.stop()

    def follow(self, places: Sequence[Place]) -> None:
        for i, place in enumerate(places):
            if place.state in {"done", "failed"} and i not in self.reported:
                self.reported.add(i)
                self._report(place, len(self.reported), self._left(places), len(places))
        if self.live:
            self.live.update(_table(places, self._left(places)))

    def _left(self, places: Sequence[Place]) -> str:
        """The estimated remaining time, from the cells run so far; empty before the first is done."""
        run = sum(place.state in {"done", "failed"} and not place.is_reused for place in places)
        left = sum(place.state in {"waiting", "running"} for place in places)
        from equipoise.report.times import duration_text

        return f"  left {duration_text((time.monotonic() - self.started) / run * left)}" if run and left else ""

    def _report(self, place: Place, n: int, left: str, total: int) -> None:
        how = "already done" if place.is_reused else place.state
        error = f": {place.error}" if place.error else ""
        value = "" if place.value is None else f"  {100 * place.value:.2f} %"
        cell = f"{place.cell.label}  seed {place.cell.config.seed}"
        text = f"{n}/{total}  {cell}  {how}  {place.run_id or ''}{value}{left}{error}"
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _table(places: Sequence[Place], left: str) -> Table:
    """One row per label: a mark per seed, and the mean of those that are done."""
    from statistics import fmean

    from rich.table import Table

    marks = {"waiting": "[dim]·[/]", "running": "[cyan]▶[/]", "done": "[green]✓[/]", "failed": "[red]✗[/]"}
    rows: dict[str, list[Place]] = {}
    for place in places:
        rows.setdefault(place.cell.label, []).append(place)
    table = Table("cell", "seeds", "mean so far", box=None, header_style="bold", caption=left.strip() or None)
    for label, row in rows.items():
        values = [place.value for place in row if place.value is not None]
        mean = f"{100 * fmean(values):.2f} %" if values else ""
        table.add_row(label, " ".join(marks[place.state] for place in row), mean)
    return table
