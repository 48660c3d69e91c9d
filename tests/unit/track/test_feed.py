"""A feed sends everything once, survives a tracker that is away or hangs, and never holds up the run."""

from __future__ import annotations

import time

import pytest

from equipoise.store import read
from equipoise.store.database import Store
from equipoise.store.sent import SentTo, sent_to
from equipoise.track import feed
from equipoise.track.feed import Route, TrackerFeed, reason

from .conftest import RUN, ListSink, commit, eventually, kinds, points


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "PAUSE", 0.01)
    monkeypatch.setattr(feed, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(feed, "LONGEST_DELAY", 0.05)


def ended(route: Route, status: str = "done", wait: float = 60.0) -> TrackerFeed:
    """A feed from its start to its end."""
    mine = TrackerFeed(route)
    mine.start()
    mine.finish(status)
    mine.leave(wait)
    return mine


def test_every_checkpoint_arrives_once_and_in_order(route: Route, store: Store, sink: ListSink) -> None:
    mine = TrackerFeed(route)
    mine.start()
    for step in range(5):
        commit(store, step)
        mine.ring()
    mine.finish("done")
    mine.leave(60)
    assert sorted(sink.points) == sorted(points(0, 1, 2, 3, 4))
    assert [point.step for point in sink.points] == sorted(point.step for point in sink.points)
    assert sink.closed == ["done"]
    assert kinds(store) == ["tracker-opened"]
    assert sent_to(store, RUN, "list", "here") == SentTo("list", "here", f"{RUN}-there", 4)


def test_a_second_process_goes_on_in_the_same_run_of_the_tracker(route: Route, store: Store, sink: ListSink) -> None:
    commit(store, 0)
    ended(route, "stopped")
    commit(store, 1)
    ended(route)
    assert sink.opened == [None, f"{RUN}-there"]
    assert sorted(sink.points) == sorted(points(0, 1))
    assert sink.closed == ["stopped", "done"]
    assert kinds(store).count("tracker-opened") == 1


def test_what_a_tracker_missed_while_it_was_away_arrives_when_it_is_back(
    route: Route, store: Store, sink: ListSink
) -> None:
    mine = TrackerFeed(route)
    mine.start()
    commit(store, 0)
    mine.ring()
    eventually(lambda: len(sink.points) == 3)
    sink.is_away = True
    for step in (1, 2):
        commit(store, step)
        mine.ring()
    eventually(lambda: "tracker-failed" in kinds(store))
    sink.is_away = False
    eventually(lambda: len(sink.points) == 9)
    mine.finish("done")
    mine.leave(60)
    assert sorted(sink.points) == sorted(points(0, 1, 2))
    assert kinds(store) == ["tracker-opened", "tracker-failed", "tracker-recovered"]
    assert "Connection refused" in next(text for text in mine.said if "failed" in text)


def test_failures_are_told_once_however_many_there_are(route: Route, store: Store, sink: ListSink) -> None:
    sink.is_away = True
    mine = TrackerFeed(route)
    mine.start()
    for step in range(3):
        commit(store, step)
        mine.ring()
        time.sleep(0.05)
    mine.finish("done")
    mine.leave(0.2)
    assert kinds(store) == ["tracker-failed", "tracker-behind"]
    behind = read.events(store, RUN)[-1].event
    assert "lacks 9 points, of the last 3 checkpoints" in behind.message, "an accuracy and two losses, three times"
    assert f"equipoise export {RUN} --to list" in behind.message
    assert behind.detail == {"tracker": "list", "place": "here"}


def test_a_tracker_that_hangs_holds_nobody_up(route: Route, store: Store, sink: ListSink) -> None:
    sink.gate.clear()
    mine = TrackerFeed(route)
    began = time.monotonic()
    mine.start()
    for step in range(50):
        commit(store, step)
        before = time.monotonic()
        mine.ring()
        assert time.monotonic() - before < 0.5
    mine.finish("done")
    mine.leave(0.1)
    assert time.monotonic() - began < 30, "fifty commits, not fifty waits"
    assert kinds(store) == ["tracker-behind"]
    sink.gate.set()


def test_a_tracker_with_every_point_may_lack_the_end(route: Route, store: Store, sink: ListSink) -> None:
    commit(store, 0)
    ended(route)
    sink.is_away = True
    again = ended(route, wait=0.1)
    assert any("has every point" in text for text in again.said)


def test_a_batch_is_acknowledged_before_the_next_is_read(
    route: Route, store: Store, sink: ListSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "AT_ONCE", 4)
    for step in range(5):
        commit(store, step)
    batches = list(feed.pending(route, -1))
    assert [step for _, step in batches] == [1, 3, 4]
    assert [len(batch) for batch, _ in batches] == [6, 6, 3], "three points a checkpoint, two checkpoints to have four"
    assert list(feed.pending(route, 4)) == []


def test_a_run_without_checkpoints_lacks_nothing(route: Route) -> None:
    assert list(feed.pending(route, -1)) == []


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "one"),
        (ValueError(""), "ValueError"),
        (OSError("pool(host): (Caused by X('[Errno 111] Connection refused'))"), "[Errno 111] Connection refused"),
        (ValueError("x" * 300), "x" * 200 + " …"),
    ],
)
def test_a_reason_is_one_short_line(error: Exception, line: str) -> None:
    assert reason(error) == line
