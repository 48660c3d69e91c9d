from __future__ import annotations

import ctypes
from types import SimpleNamespace

from equipoise.engine.allocator import keep_freed_memory


def test_it_says_whether_the_allocator_took_the_setting():
    assert isinstance(keep_freed_memory(), bool)


def test_another_c_library_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    assert keep_freed_memory.__wrapped__() is False


def test_both_thresholds_are_raised(monkeypatch):
    calls = []
    library = SimpleNamespace(mallopt=lambda option, value: calls.append((option, value)) or 1)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert keep_freed_memory.__wrapped__() is True
    assert sorted(calls) == [(-3, 2**30), (-1, 2**30)]  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD of malloc.h
