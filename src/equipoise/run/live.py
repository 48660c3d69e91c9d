"""What a run says of itself while it goes on, and what it is asked to do: both in the store, by a thread of its own.

    every 2 s    progress: the step, who has answered, who is still training, how long it will take
                 requests: read, and followed at the next checkpoint

A run never waits for those who watch it. If the store cannot be written at that moment, watchers see the row before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from equipoise.core.errors import StoppedOnRequest, StoreError
from equipoise.core.pulse import PULSE
from equipoise.core.values import ClientFailure, Result
from equipoise.run.advance import cohort
from equipoise.run.build import Federation
from equipoise.run.state import Record
from equipoise.run.watch import Watch
from equipoise.store.database import Store
from equipoise.store.watching import end_progress, set_progress, take_requests

EVERY = 2.0
"""Seconds between two rows."""
NAMED = 2000
"""At most this many clients are named in each list; all are counted."""
LATE_AFTER, LATE_AT_LEAST = 3.0, 5.0
"""Clients are late when nobody has answered for this many times the longest wait so far, in seconds at least."""


class LiveProgress:
    """Passes everything on to another watcher, and keeps the run's row of progress up to date."""

    def __init__(self, store: Store, run_id: str, stopped: frozenset[int], watch: Watch) -> None:
        """`stopped`: the clients that had stopped for good before this process went on with the run."""
        self.store, self.run_id, self.stopped, self.watch = store, run_id, stopped, watch
        self.over = threading.Event()
        self.thread: threading.Thread | None = None
        self.asked: list[str] = []

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        self.federation, self.first = federation, first
        self.began = self.answered_at = time.monotonic()
        self.longest_wait = 0.0
        self._next_step(first)
        self.watch.begin(run_id, federation, first)
        self.thread = threading.Thread(target=self._keep_up, name="live-progress", daemon=True)
        self.thread.start()

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        if step != self.step:
            self._next_step(step)
        now = time.monotonic()
        if self.answers:  # the first answer of a step also waits for the work between two steps
            self.longest_wait = max(self.longest_wait, now - self.answered_at)
        self.answered_at = now
        self.answers.append((result.client, isinstance(result, ClientFailure)))
        self.watch.tick(step, done, total, result)

    def checkpoint(self, record: Record) -> None:
        self.stopped = record.snapshot.stopped
        if self.step == record.step:
            self._next_step(record.step + 1)
        self.watch.checkpoint(record)

    def note(self, text: str) -> None:
        self.watch.note(text)

    def end(self) -> None:
        self.over.set()
        if self.thread is not None:
            self.thread.join()
            with suppress(StoreError):
                end_progress(self.store, self.run_id)
        self.watch.end()

    def follow_requests(self, step: int) -> None:
        """Called at each checkpoint: ends the run if somebody asked for that."""
        if "stop" in self.asked and step + 1 < self.federation.config.steps:
            fix = f"`equipoise resume {self.run_id}` goes on with it, to the same numbers"
            raise StoppedOnRequest(f"stopped after checkpoint {step + 1}, as asked from the dashboard", fix=fix)

    def _next_step(self, step: int) -> None:
        self.step, self.answers = step, list[tuple[int, bool]]()

    def _keep_up(self) -> None:
        while not self.over.wait(EVERY):
            with suppress(StoreError):
                set_progress(self.store, self.run_id, self._row())
                self.asked += take_requests(self.store, self.run_id)

    def _row(self) -> dict[str, Any]:
        step, answers, steps = self.step, list(self.answers), self.federation.config.steps
        seconds, done = time.monotonic() - self.began, max(0, step - self.first)
        every = [] if step >= steps else [c for c in cohort(self.federation, step) if c not in self.stopped]
        given = {client for client, _ in answers}
        missing = [client for client in every if client not in given]
        share = min(1.0, (len(answers) + PULSE.read()) / len(every)) if every else 1.0
        return {
            "step": step,
            "steps": steps,
            "share": share,
            "seconds": seconds,
            "left": seconds / (done + share) * (steps - step - share) if done + share > 0 else None,
            "training": _named(missing),
            "answered": _named([client for client, is_failure in answers if not is_failure]),
            "failed": _named([client for client, is_failure in answers if is_failure]),
            "stopped": _named(sorted(self.stopped)),
            "is_late": bool(missing and answers and self._is_late()),
        }

    def _is_late(self) -> bool:
        return time.monotonic() - self.answered_at > max(LATE_AT_LEAST, LATE_AFTER * self.longest_wait)


def _named(clients: Sequence[int]) -> dict[str, Any]:
    return {"n": len(clients), "clients": list(clients[:NAMED])}
