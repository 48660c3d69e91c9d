"""Writes a run's numbers as TensorBoard event files, beside the store, while it goes on.

accuracy/merged             the server's
client_3/lam                a client's; beyond 20 clients clients/lam, their mean
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from equipoise.core.errors import ConfigError, MissingExtra

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
            from tensorboard.summary.writer import event_file_writer
        except ImportError:
            raise MissingExtra("writing event files needs: pip install 'equipoise[track]'") from None
        self.module, self.folder, self.watch = event_file_writer, folder, watch

    @property
    def run_id(self) -> str | None:
        return self.watch.run_id

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        place = self.folder / run_id
        try:
            self.writer = self.module.EventFileWriter(str(place))
        except OSError as error:
            what = f"cannot write event files to {place}: {error}"
            raise ConfigError(what, where="--tensorboard", fix="give another folder") from error
        self.watch.begin(run_id, federation, first)

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        self.watch.tick(step, done, total, result)

    def checkpoint(self, record: Record) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in tagged(record.rows).items()]
        self.writer.add_event(Event(wall_time=time.time(), step=record.step, summary=Summary(value=values)))
        self.writer.flush()
        self.watch.checkpoint(record)

    def note(self, text: str) -> None:
        self.watch.note(text)

    def end(self) -> None:
        if hasattr(self, "writer"):  # a run may end before it has begun
            self.writer.close()
        self.watch.end()


def tagged(rows: Sequence[Row]) -> dict[str, float]:
    """Numbers of one checkpoint by their tags; ranks of single users are left out."""
    rows = [row for row in rows if not row.name.startswith("rank/")]
    found = {row.name: row.value for row in rows if row.client is None}
    if len({row.client for row in rows} - {None}) <= OWN_CURVES:
        return found | {f"client_{row.client}/{row.name}": row.value for row in rows if row.client is not None}
    by_name: dict[str, list[float]] = {}
    for row in rows:
        if row.client is not None:
            by_name.setdefault(f"clients/{row.name}", []).append(row.value)
    return found | {name: fmean(values) for name, values in by_name.items()}
