from __future__ import annotations

from equipoise.core import stopwatch
from equipoise.core.stopwatch import Stopwatch


def test_every_second_is_counted_once(monkeypatch):
    now = iter([10.0, 13.0, 14.0, 20.0])
    monkeypatch.setattr(stopwatch, "perf_counter", lambda: next(now))
    watch = Stopwatch()
    watch.lap("before it is started")
    watch.start()
    watch.lap("data")
    watch.lap("forward")
    watch.lap("data")
    watch.add("workers/data", 5.0)
    assert watch.take() == {"data": 9.0, "forward": 1.0, "workers/data": 5.0}
    assert watch.stop() == {}
    watch.lap("after it was stopped")
    assert watch.seconds == {}
