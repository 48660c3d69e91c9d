"""What a tracker does: it opens a run, takes points, and closes the run.

A sink may raise any error; `feed` catches it, waits and tries again. It loads its library when it opens, not before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from equipoise.config.loader import flat
from equipoise.diagnose.stored import facts_of
from equipoise.store import read
from equipoise.store.records import Run
from equipoise.store.transact import Store
from equipoise.track.points import Point


@dataclass(frozen=True)
class TrackedRun:
    """What a tracker shows of a run beside its curves."""

    run_id: str
    method: str
    version: str
    settings: Mapping[str, Any]
    """Dotted keys of the configuration."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What `diagnose` needs beside the numbers, as far as it is a plain value."""


class OpenedRun(NamedTuple):
    """The run's id at the tracker, and whether the tracker made it just now and has nothing of the run yet."""

    remote: str
    is_new: bool


class Sink(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str:
        """Where it sends, for people and as a key: an address, a folder. Never with a password."""

    def open(self, run: TrackedRun, known: str | None) -> OpenedRun:
        """Open the run with that id at the tracker, or make it if the id is None or the tracker no longer has it."""

    def send(self, points: Sequence[Point]) -> None:
        """Send points in the order of their steps; when it returns, the tracker has them."""

    def close(self, status: str) -> None:
        """Say how the run ended: done, stopped or failed."""


def described(store: Store, run: Run) -> TrackedRun:
    """A stored run for a tracker; without the settings of trackers themselves."""
    settings = {key: value for key, value in flat(run.config).items() if not key.startswith("track.")}
    partition = read.partition(store, run.partition) if run.partition else None
    facts = facts_of(run, partition, [recorded.event for recorded in read.events(store, run.run_id)])
    plain = {name: value for name, value in facts.items() if isinstance(value, str | int | float | bool)}
    kept = {name: value for name, value in plain.items() if name not in ("status", "steps")}
    return TrackedRun(run.run_id, run.method, run.version, settings, kept)
