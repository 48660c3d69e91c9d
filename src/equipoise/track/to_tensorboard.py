"""Writes a run as TensorBoard event files: a folder per run, which a resumed run adds a file to."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equipoise.config.track import EventFileOptions
from equipoise.core.errors import MissingExtra
from equipoise.track.points import Point
from equipoise.track.sink import OpenedRun, TrackedRun


class EventFileSink:
    name = "tensorboard"

    def __init__(self, options: EventFileOptions) -> None:
        self.folder = Path(options.folder).absolute()
        self.place = str(self.folder)
        self.writer: Any = None

    def open(self, run: TrackedRun, known: str | None) -> OpenedRun:
        place = self.folder / run.run_id
        is_new = known is None or not place.is_dir()
        self.writer = event_writer(place)
        return OpenedRun(run.run_id, is_new)

    def send(self, points: Sequence[Point]) -> None:
        write_points(self.writer, points)

    def close(self, status: str) -> None:
        self.writer.close()


def event_writer(place: Path) -> Any:
    """A writer of a new event file in that folder."""
    try:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError:
        raise MissingExtra("writing event files needs: pip install 'equipoise[track]'") from None
    return EventFileWriter(str(place))


def write_points(writer: Any, points: Sequence[Point]) -> None:
    """One event per checkpoint, on disk when this returns."""
    from tensorboard.compat.proto.event_pb2 import Event as TensorBoardEvent
    from tensorboard.compat.proto.summary_pb2 import Summary

    by_step: defaultdict[int, list[Point]] = defaultdict(list)
    for point in points:
        by_step[point.step].append(point)
    for step, those in by_step.items():
        values = [Summary.Value(tag=point.tag, simple_value=point.value) for point in those]
        writer.add_event(TensorBoardEvent(wall_time=time.time(), step=step, summary=Summary(value=values)))
    writer.flush()
