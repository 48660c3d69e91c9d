"""Sends a run to one tracker from a thread of its own: whatever the store has and the tracker has not.

    checkpoint stored → ring → points after the last acknowledged checkpoint → tracker → acknowledgement in the store

The run rings a bell, which never waits; nothing is queued but the store itself. A tracker that fails is tried again
after 1, 2, 4 … 60 s, and then gets everything since its last acknowledgement. What it still lacks when the run ends is
an event of the run, and `equipoise export RUN --to …` sends it later.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from equipoise.core.errors import EquipoiseError, StoreError
from equipoise.core.values import Event
from equipoise.store import write
from equipoise.store.metrics import last_step, recorded_names
from equipoise.store.sent import NOTHING, SentTo, sent_to, set_sent
from equipoise.store.transact import Store
from equipoise.track.points import Point, points_of
from equipoise.track.sink import Sink, TrackedRun

PAUSE = 0.5
"""Least seconds between two deliveries: a fast run is sent several checkpoints at a time."""
FIRST_DELAY, LONGEST_DELAY = 1.0, 60.0
"""Seconds until the next attempt after a failure; doubled each time."""
LAST_ATTEMPTS = 2
"""How often a tracker that fails is tried after the end of the run."""
AT_ONCE = 5000
"""About this many points are sent before the tracker's acknowledgement is stored."""
LONGEST_REASON = 200


@dataclass(frozen=True)
class Route:
    """What is sent where: a run of a store, its first `own` clients (None: all) and means, to a sink."""

    store: Store
    run: TrackedRun
    own: int | None
    sink: Sink


class TrackerFeed:
    """Keeps one tracker up to date. `said` collects sentences for whoever watches the run."""

    def __init__(self, route: Route) -> None:
        self.route, self.said = route, deque[str]()
        self._at: SentTo | None = None
        self._status, self._delay = "done", FIRST_DELAY
        self._has_failed = self._has_recovered = self._is_through = False
        self._bell, self._closing, self._abandoned = threading.Event(), threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"track-{route.sink.name}", daemon=True)

    def start(self) -> None:
        self._bell.set()
        self._thread.start()

    def ring(self) -> None:
        """A checkpoint was stored; returns at once."""
        self._bell.set()

    def finish(self, status: str) -> None:
        """The run has ended: send the rest and close it at the tracker; returns at once."""
        self._status = status
        self._closing.set()
        self._bell.set()

    def leave(self, wait: float) -> None:
        """Wait so many seconds at most for the rest to be sent; then record what the tracker lacks."""
        self._thread.join(wait)
        self._abandoned.set()
        if not self._is_through:
            self._record_behind()

    def _work(self) -> None:
        last_attempts = LAST_ATTEMPTS
        while not self._abandoned.is_set() and last_attempts:
            self._bell.wait()
            self._bell.clear()
            is_end = self._closing.is_set()  # read first: what was stored until then is sent below
            if self._try(is_end):
                if is_end:
                    return
                self._closing.wait(PAUSE)
            else:
                self._bell.set()
                last_attempts -= is_end
                (self._abandoned if is_end else self._closing).wait(FIRST_DELAY if is_end else self._delay)
                self._delay = min(2 * self._delay, LONGEST_DELAY)

    def _try(self, is_end: bool) -> bool:
        """Deliver; whether it worked. A tracker's library may raise anything, and none of it may reach the run."""
        try:
            self._deliver()
            if is_end:
                self.route.sink.close(self._status)
                self._is_through = True
        except Exception as error:
            self._at = None  # opened anew at the next attempt
            if not self._has_failed and not self._abandoned.is_set():
                self._has_failed = True
                text = f"{named(self.route)} failed: {reason(error)}; the run goes on; what is lacking is sent later"
                self._record(Event("tracker-failed", text, detail=where(self.route)))
            return False
        self._delay = FIRST_DELAY
        if self._has_failed and not self._has_recovered and not self._abandoned.is_set():
            self._has_recovered = True
            text = f"{named(self.route)} is back, and has got what was lacking"
            self._record(Event("tracker-recovered", text, detail=where(self.route)))
        return True

    def _deliver(self) -> None:
        at = self._at or opened(self.route)
        for points, step in pending(self.route, at.sent):
            if self._abandoned.is_set():
                return
            self.route.sink.send(points)
            at = acknowledged(self.route, at, step)
        self._at = at

    def _record_behind(self) -> None:
        try:
            text = behind(self.route)
        except StoreError as error:  # the run itself fails on such a store, and says so
            self.said.append(f"what {named(self.route)} lacks is not known: {error.what}")
        else:
            self._record(Event("tracker-behind", text, detail=where(self.route)))

    def _record(self, event: Event) -> None:
        self.said.append(event.message)
        try:
            write.add_events(self.route.store, self.route.run.run_id, [event])
        except StoreError as error:  # the run itself fails on such a store, and says so
            self.said.append(f"not recorded: {error.what}")


def opened(route: Route) -> SentTo:
    """Open the run at the tracker, where it was sent before or anew, and remember its id there."""
    run_id, sink = route.run.run_id, route.sink
    known = sent_to(route.store, run_id, sink.name, sink.place)
    remote, is_new = sink.open(route.run, None if known is None else known.remote)
    at = SentTo(sink.name, sink.place, remote, NOTHING if is_new or known is None else known.sent)
    set_sent(route.store, run_id, at)
    if is_new:
        text, detail = f"{named(route)} shows the run as {remote}", {**where(route), "id": remote}
        write.add_events(route.store, run_id, [Event("tracker-opened", text, detail=detail)])
    return at


def acknowledged(route: Route, at: SentTo, step: int) -> SentTo:
    """Remember that the tracker has everything up to this checkpoint."""
    now = replace(at, sent=step)
    set_sent(route.store, route.run.run_id, now)
    return now


def pending(route: Route, after: int) -> Iterator[tuple[list[Point], int]]:
    """What a tracker lacks that has everything up to `after`: batches of points, with the last checkpoint of each."""
    store, run_id = route.store, route.run.run_id
    last = last_step(store, run_id)
    if last is None or last <= after:
        return
    names, batch = recorded_names(store, run_id), list[Point]()
    for step in range(after + 1, last + 1):
        batch += points_of(store, run_id, step, names, route.own)
        if len(batch) >= AT_ONCE or step == last:
            yield batch, step
            batch = []


def behind(route: Route) -> str:
    """What the tracker lacks, in words."""
    known = sent_to(route.store, route.run.run_id, route.sink.name, route.sink.place)
    after = NOTHING if known is None else known.sent
    n_points = sum(len(points) for points, _ in pending(route, after))
    if n_points == 0:
        return f"{named(route)} has every point, but not yet the word that the run ended"
    last = last_step(route.store, route.run.run_id)
    assert last is not None
    fix = f"send them with: equipoise export {route.run.run_id} --to {route.sink.name}"
    return f"{named(route)} lacks {n_points} points, of the last {last - after} checkpoints; {fix}"


def where(route: Route) -> dict[str, str]:
    return {"tracker": route.sink.name, "place": route.sink.place}


def named(route: Route) -> str:
    return f"{route.sink.name} ({route.sink.place})"


def reason(error: Exception) -> str:
    """An error in one short line: of a chain of connection errors, what happened in the end."""
    text = error.what if isinstance(error, EquipoiseError) else str(error)
    line = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    if "Errno" in line:
        line = line[line.rindex("[Errno") :].rstrip("\"')")
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]} …"
