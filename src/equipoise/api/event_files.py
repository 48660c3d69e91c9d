"""Writes a run's numbers as TensorBoard event files, beside the store, while it goes on: `--tensorboard FOLDER`.

accuracy/merged             the server's
client_3/lam                a client's; beyond 20 clients clients/lam, their mean
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from equipoise.core.errors import ConfigError, MissingExtra
from equipoise.store.sent import StepNumbers
from equipoise.track.points import LEFT_OUT, Point, tagged
from equipoise.track.to_tensorboard import event_writer, write_points

if TYPE_CHECKING:
    from equipoise.api.progress import Follows
    from equipoise.core.values import Result, Row
    from equipoise.run.build import Federation
    from equipoise.run.state import Record

OWN_CURVES = 20
"""Up to this many clients have curves of their own."""


class EventFiles:
    """Passes everything on to another follower, and writes event files."""

    def __init__(self, folder: Path, watch: Follows) -> None:
        try:
            import tensorboard.summary.writer.event_file_writer  # noqa: F401
        except ImportError:
            raise MissingExtra("writing event files needs: pip install 'equipoise[track]'") from None
        self.folder, self.watch = folder, watch

    @property
    def run_id(self) -> str | None:
        return self.watch.run_id

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        place = self.folder / run_id
        try:
            self.writer = event_writer(place)
        except OSError as error:
            what = f"cannot write event files to {place}: {error}"
            raise ConfigError(what, where="--tensorboard", fix="give another folder") from error
        self.watch.begin(run_id, federation, first)

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        self.watch.tick(step, done, total, result)

    def checkpoint(self, record: Record) -> None:
        write_points(self.writer, points(record.rows, record.step))
        self.watch.checkpoint(record)

    def note(self, text: str) -> None:
        self.watch.note(text)

    def end(self) -> None:
        if hasattr(self, "writer"):  # a run may end before it has begun
            self.writer.close()
        self.watch.end()


def points(rows: Sequence[Row], step: int) -> list[Point]:
    """The points of one checkpoint."""
    rows = [row for row in rows if not row.name.startswith(LEFT_OUT)]
    theirs = [row for row in rows if row.client is not None]
    if len({row.client for row in theirs}) <= OWN_CURVES:
        return tagged(step, StepNumbers([(row.client, row.name, row.value) for row in rows], []))
    by_name: dict[str, list[float]] = {}
    for row in theirs:
        by_name.setdefault(row.name, []).append(row.value)
    single = [(None, row.name, row.value) for row in rows if row.client is None]
    return tagged(step, StepNumbers(single, [(name, fmean(values)) for name, values in by_name.items()]))
