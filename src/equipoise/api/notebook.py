"""A progress bar for notebooks: one line of HTML that is redrawn in place, without widgets."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from equipoise.api.progress_text import described, figures_of, said

if TYPE_CHECKING:
    from equipoise.core.values import Result
    from equipoise.run.build import Federation
    from equipoise.run.state import Record

EVERY = 0.2
"""Seconds between two updates within a checkpoint."""


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook; IPython on a terminal is a terminal."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None  # type: ignore[attr-defined, unused-ignore]
    return shell is not None and hasattr(shell, "kernel")


class NotebookProgress:
    run_id: str | None = None

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        from IPython.display import HTML, display

        self.html, self.run_id = HTML, run_id
        self.axis = "checkpoint" if federation.config.is_one_shot else "round"
        self.headline, self.steps = federation.judge.headline, federation.config.steps
        self.about, self.figures, self.clients, self.step = described(federation), "", "", float(first)
        self.notes: list[str] = []
        self.drawn = 0.0
        self.place: Any = display(HTML(self._text()), display_id=True)

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        self.step, self.clients = step + done / total, f"client {done} of {total}"
        if time.monotonic() - self.drawn > EVERY:
            self._draw()

    def checkpoint(self, record: Record) -> None:
        self.step, self.clients = record.step + 1, ""
        self.figures = figures_of(record, self.headline)
        self.notes += [said(event) for event in record.events]
        self._draw()

    def note(self, text: str) -> None:
        self.notes.append(text)
        self._draw()

    def end(self) -> None:
        if self.run_id is not None:  # a run may end before it has begun
            self._draw()

    def _draw(self) -> None:
        self.drawn = time.monotonic()
        self.place.update(self.html(self._text()))

    def _text(self) -> str:
        from markupsafe import Markup

        line = Markup(
            "<div><b>{}</b> <small>{}</small><br>"
            "<progress value='{:.4f}' max='{}' style='width:18em'></progress> {} {} of {} <small>{} {}</small></div>"
        )
        bar = line.format(
            self.run_id, self.about, self.step, self.steps, self.axis, int(self.step), self.steps,
            self.figures, self.clients,
        )  # fmt: skip
        return str(bar + Markup("").join(Markup("<div><small>{}</small></div>").format(note) for note in self.notes))
