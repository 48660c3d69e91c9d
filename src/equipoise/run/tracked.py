"""Follows a run for its trackers: it rings their feeds at every checkpoint, and gives them time at the end."""

from __future__ import annotations

import time

from equipoise.config.track import TrackOptions
from equipoise.core.errors import StoreError
from equipoise.core.values import Result
from equipoise.run.build import Federation
from equipoise.run.state import Record
from equipoise.run.watch import Watch
from equipoise.store import read
from equipoise.store.transact import Store
from equipoise.track.feed import Route, TrackerFeed
from equipoise.track.sink import described
from equipoise.track.sinks import sinks


def tracked(store: Store, run_id: str, options: TrackOptions, watch: Watch) -> Watch:
    """The watcher; if the run has trackers, they follow it too."""
    return RunTrackers(store, run_id, options, watch) if options.to else watch


class RunTrackers:
    """Passes everything on to another watcher, and keeps the trackers' feeds going."""

    def __init__(self, store: Store, run_id: str, options: TrackOptions, watch: Watch) -> None:
        self.store, self.run_id, self.options, self.watch = store, run_id, options, watch
        self.feeds: list[TrackerFeed] = []

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        self.watch.begin(run_id, federation, first)
        run = described(self.store, read.find_run(self.store, run_id))
        self.feeds = [TrackerFeed(Route(self.store, run, self.options.own, sink)) for sink in sinks(self.options)]
        for feed in self.feeds:
            feed.start()

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        self.watch.tick(step, done, total, result)

    def checkpoint(self, record: Record) -> None:
        for feed in self.feeds:
            feed.ring()
        self._say()
        self.watch.checkpoint(record)

    def note(self, text: str) -> None:
        self.watch.note(text)

    def end(self) -> None:
        try:
            deadline = time.monotonic() + self.options.wait
            status = self._status()
            for feed in self.feeds:
                feed.finish(status)
            for feed in self.feeds:
                feed.leave(max(0.0, deadline - time.monotonic()))
            self._say()
        finally:
            self.watch.end()

    def _status(self) -> str:
        try:
            return read.find_run(self.store, self.run_id).status
        except StoreError:  # the run has failed on its store, and that error is the one to report
            return "failed"

    def _say(self) -> None:
        for feed in self.feeds:
            while feed.said:
                self.watch.note(f"! {feed.said.popleft()}")
