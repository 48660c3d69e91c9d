"""What changed since one last looked, also where nobody wrote anything: a process that was killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from equipoise.core.values import Row
from equipoise.dashboard import changes as module
from equipoise.dashboard.changes import NAMED, Changes, said
from equipoise.dashboard.view import Dashboard
from equipoise.store import read, write
from equipoise.store.locks import hold
from equipoise.store.watching import set_progress

from .conftest import written_run
from .visits import until

RUN = "fedavg-000001"
WORKER = """
import sys, time
from equipoise.store.database import open_store
from equipoise.store.locks import hold
with open_store(sys.argv[1]) as store, hold(store, sys.argv[2]):
    print("working", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def changes(board: Dashboard) -> Changes:
    return board.changes


def test_nothing_written_is_nothing_changed(changes: Changes) -> None:
    changes.look()
    assert [changes.look() for _ in range(5)] == [set()] * 5


def test_each_kind_of_step_of_a_run_is_a_change_once(board: Dashboard, changes: Changes) -> None:
    store = board.store
    changes.look()
    steps: list[Callable[[], object]] = [
        lambda: written_run(store),
        lambda: write.commit_step(store, RUN, 0, [Row(0, 0, None, "accuracy/merged", 0.5)], [], {}),
        lambda: write.set_findings(store, RUN, []),
        lambda: write.finish(store, RUN, "done"),
    ]
    for step in steps:
        step()
        assert changes.look() == {RUN}
        assert changes.look() == set()


def test_only_the_run_that_moved_has_changed(board: Dashboard, changes: Changes) -> None:
    other = written_run(board.store, "fedavg-000002")
    written_run(board.store)
    assert changes.look() == {RUN, other}  # the first look
    write.finish(board.store, other, "stopped")
    assert changes.look() == {other}


def test_what_another_process_writes_is_seen(board: Dashboard, changes: Changes) -> None:
    written_run(board.store)
    changes.look()
    code = "import sys; from equipoise.store.database import open_store; from equipoise.store.write import finish\n"
    code += "finish(open_store(sys.argv[1]), sys.argv[2], 'failed', 'no')"
    subprocess.run([sys.executable, "-c", code, board.location, RUN], check=True, timeout=120)
    assert changes.look() == {RUN}


def test_progress_is_news_and_not_a_change(board: Dashboard, changes: Changes) -> None:
    written_run(board.store)
    with hold(board.store, RUN):
        changes.look()
        set_progress(board.store, RUN, {"step": 1})
        assert changes.look() == set()
        assert changes.now[RUN]["step"] == 1


def test_a_killed_run_is_noticed_although_nobody_wrote(
    board: Dashboard, changes: Changes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALIVE_EVERY", 0.0)
    written_run(board.store)
    worker = subprocess.Popen([sys.executable, "-c", WORKER, board.location, RUN], stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "working\n"
        changes.look()
        assert list(changes.now) == [RUN]
        assert changes.look() == set()
    finally:
        worker.kill()
        worker.communicate()
    assert until(changes.look) == {RUN}
    assert changes.now == {}
    assert read.find_run(board.store, RUN).status == "killed"
    assert changes.look() == set()


def test_a_run_that_was_removed_has_changed(board: Dashboard, changes: Changes) -> None:
    from equipoise.store import tables
    from equipoise.store.transact import writing

    written_run(board.store)
    changes.look()
    with writing(board.store) as connection:
        connection.execute(tables.runs.delete())
    assert changes.look() == {RUN}


@pytest.mark.parametrize("n", [0, NAMED, NAMED + 1])
def test_clients_are_named_where_they_are_few(n: int) -> None:
    row = {"step": 1, "training": {"n": n, "clients": list(range(n))}, "secret": "x"}
    expected = {"n": n, "clients": list(range(n))} if n <= NAMED else {"n": n}
    assert said(row) == {"step": 1, "training": expected}
