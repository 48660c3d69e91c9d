"""Following a run: bars on a terminal, a bar in a notebook, one line per checkpoint elsewhere.

progress=None     a bar in a notebook or on a terminal, otherwise nothing
progress=True     the same, with a line per checkpoint on stderr where there is neither
progress=False    nothing
progress=watch    an object with the methods of `Follows`
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from equipoise.api.notebook import NotebookProgress, is_notebook
from equipoise.api.progress_text import described, figures_of, said
from equipoise.core.pulse import PULSE
from equipoise.run.watch import Nobody

if TYPE_CHECKING:
    from equipoise.core.values import Result
    from equipoise.run.build import Federation
    from equipoise.run.state import Record


class Follows(Protocol):
    """A follower of a run that knows its id; the same methods as `run.watch.Watch`."""

    @property
    def run_id(self) -> str | None: ...

    def begin(self, run_id: str, federation: Federation, first: int) -> None: ...

    def tick(self, step: int, done: int, total: int, result: Result) -> None: ...

    def checkpoint(self, record: Record) -> None: ...

    def note(self, text: str) -> None: ...

    def end(self) -> None: ...


ProgressOf: TypeAlias = bool | Follows | None


def follower(progress: ProgressOf) -> Follows:
    """The follower that `progress` asks for."""
    if progress is not None and not isinstance(progress, bool):
        return progress
    if progress is False:
        return Silent()
    if is_notebook():
        return NotebookProgress()
    return watcher() if progress or sys.stderr.isatty() else Silent()


def watcher() -> ProgressLines | ProgressBars:
    """Bars on a terminal, lines elsewhere."""
    return ProgressBars() if sys.stderr.isatty() else ProgressLines()


class Silent(Nobody):
    """Shows nothing, and remembers which run it followed."""

    run_id: str | None = None

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        self.run_id = run_id


class ProgressLines:
    """round 3/10  clients 5/5  loss 0.512  accuracy 61.20 %  time 12.3 s  left 28.7 s"""

    run_id: str | None = None

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        self.run_id = run_id
        self.axis = "checkpoint" if federation.config.is_one_shot else "round"
        self.first, self.steps = first, federation.config.steps
        self.headline = federation.judge.headline
        self.started = time.monotonic()
        self.total = 0
        going_on = f", from {self.axis} {first + 1}" if first else ""
        self.note(f"run {run_id}: {described(federation)}{going_on}")

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        self.total = total

    def checkpoint(self, record: Record) -> None:
        for event in record.events:
            self.note(said(event))
        done = record.step + 1
        seconds = time.monotonic() - self.started
        is_over = any(event.kind == "stopped-early" for event in record.events)
        left = 0.0 if is_over else seconds / (done - self.first) * (self.steps - done)
        clients = len({row.client for row in record.rows if row.name == "steps"})
        figures = figures_of(record, self.headline)
        self.note(
            f"{self.axis} {done}/{self.steps}  clients {clients}/{self.total}  {figures}"
            f"  time {seconds:.1f} s  left {left:.1f} s"
        )

    def note(self, text: str) -> None:
        with suppress(BrokenPipeError):  # the reader is gone; the run goes on
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        pass


class ProgressBars:
    """Two bars: checkpoints of the run, clients of the checkpoint under way."""

    run_id: str | None = None
    bars: Moving | None = None

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        self.run_id = run_id
        axis = "checkpoint" if federation.config.is_one_shot else "round"
        self.headline = federation.judge.headline
        console = Console(stderr=True)
        console.print(f"run [bold]{run_id}[/]: {described(federation)}", highlight=False)
        self.bars = Moving(
            TextColumn("{task.description:>10}"),
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=console,
        )
        self.steps: TaskID = self.bars.add_task(axis, total=federation.config.steps, completed=first, figures="")
        self.clients: TaskID = self.bars.add_task("clients", total=federation.n_clients, figures="")
        self.bars.moving = self.clients
        self.bars.start()

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        metrics = getattr(result, "metrics", {})
        figures = f"loss {metrics['loss/base']:.3f}" if "loss/base" in metrics else ""
        if "lam/used" in metrics:
            figures += f"  λ {metrics['lam/used']:.3g}"
        assert self.bars is not None
        self.bars.done = done
        self.bars.update(self.clients, total=total, figures=figures)

    def checkpoint(self, record: Record) -> None:
        assert self.bars is not None
        for event in record.events:
            self.note(said(event))
        self.bars.done = 0  # no client has finished the next checkpoint yet
        self.bars.update(self.steps, completed=record.step + 1, figures=figures_of(record, self.headline))

    def note(self, text: str) -> None:
        assert self.bars is not None
        self.bars.console.print(text, highlight=False)

    def end(self) -> None:
        if self.bars is not None:
            self.bars.stop()


class Moving(Progress):
    """Bars that also move within a client's epochs: finished clients plus the progress of those in training."""

    moving: TaskID | None = None
    done = 0

    def get_renderables(self) -> Iterable[RenderableType]:
        if self.moving is not None:
            self.update(self.moving, completed=self.done + PULSE.read())
        yield from super().get_renderables()
