from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from equipoise.core.errors import StoreError
from equipoise.store import locks
from equipoise.store.database import Store

from .conftest import Script

HOLD = """
    import os, time
    from equipoise.store.database import open_store
    from equipoise.store.locks import hold
    with open_store(LOCATION) as store, hold(store, "run-1"):
        child = os.fork() if "fork" in ARGUMENTS else 0
        if child or "fork" not in ARGUMENTS:
            print(child, flush=True)
        time.sleep(60)
"""


def test_a_run_is_alive_while_it_is_held(store: Store) -> None:
    assert not locks.is_alive(store, "run-1")
    with locks.hold(store, "run-1"):
        assert locks.is_alive(store, "run-1")
        assert not locks.is_alive(store, "run-2")
    assert not locks.is_alive(store, "run-1")


def test_a_run_is_held_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "GRACE", 0.05)
    with (
        locks.hold(store, "run-1"),
        pytest.raises(StoreError, match="run 'run-1' is being worked on"),
        locks.hold(store, "run-1"),
    ):
        pass
    with locks.hold(store, "run-1"):
        pass


def test_a_killed_process_lets_go(store: Store, script: Script) -> None:
    process = script(HOLD)
    assert process.stdout is not None
    assert process.stdout.readline() == "0\n"
    assert locks.is_alive(store, "run-1")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not locks.is_alive(store, "run-1")


def test_a_forked_worker_does_not_keep_a_killed_run_alive(store: Store, script: Script) -> None:
    process = script(HOLD, "fork")
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    try:
        assert locks.is_alive(store, "run-1")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert Path(f"/proc/{worker}").exists()
        deadline = time.monotonic() + 60
        while locks.is_alive(store, "run-1") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not locks.is_alive(store, "run-1")
    finally:
        os.kill(worker, signal.SIGKILL)


def test_a_child_closes_what_it_inherited(store: Store) -> None:
    with locks.hold(store, "run-1"):
        locks._let_go_in_child()
        assert not locks.is_alive(store, "run-1")


@pytest.mark.parametrize("run_id", ["../x", "a/b", "", "."])
def test_an_id_that_is_no_file_name_is_refused(store: Store, run_id: str) -> None:
    with pytest.raises(StoreError, match="not a file name"):
        locks.is_alive(store, run_id)


def test_a_lock_that_cannot_be_made(store: Store) -> None:
    (store.blobs / "locks" / "run-1.lock").mkdir(parents=True)
    with pytest.raises(StoreError), locks.hold(store, "run-1"):
        pass
