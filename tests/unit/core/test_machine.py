from __future__ import annotations

import os

from equipoise.core.machine import cores, memory


def test_the_cores_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5})
    assert cores() == 3


def test_a_system_that_cannot_restrict_a_process(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_memory_is_what_the_kernel_says() -> None:
    """At least a quarter of a GiB, without which nothing here runs; and the same number twice."""
    assert memory() == memory() > 2**28
