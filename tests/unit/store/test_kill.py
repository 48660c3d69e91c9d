"""Real processes: writers at the same time, and writers killed in the middle."""

from __future__ import annotations

import time
from collections import Counter

from equipoise.store import blobs, read
from equipoise.store.database import Store, open_store
from equipoise.store.write import create_run, rewind

from .conftest import Script, a_run, finished

ROWS = 40
WRITER = """
    from equipoise.core.values import Event, Row
    from equipoise.store import blobs, read
    from equipoise.store.database import open_store
    from equipoise.store.write import commit_step, hold, prune
    run_id, steps = ARGUMENTS[0], int(ARGUMENTS[1])
    with open_store(LOCATION) as store, hold(store, run_id):
        done = read.checkpoints(store, run_id)
        first = done[0].step + 1 if done else 0
        for step in range(first, first + steps):
            rows = [Row(step, None, client, "loss", step + client / 100) for client in range(40)]
            manifest = {"server": blobs.put(store, f"{run_id} {step}".encode() * 500)}
            commit_step(store, run_id, step, rows, [Event("step", "done")], manifest)
            print(step, flush=True)
            prune(store, run_id)
"""


def whole(store: Store, run_id: str) -> int:
    """The number of steps, each of which is there with all its rows, its event and its blobs."""
    rows = Counter(row.step for row in read.rows(store, run_id))
    seen = [recorded.event.step for recorded in read.events(store, run_id)]
    points = read.checkpoints(store, run_id)
    assert seen == list(range(len(seen)))
    assert rows == dict.fromkeys(seen, ROWS)
    assert [point.step for point in points][:2] == seen[::-1][:2]
    for point in points:
        assert blobs.get(store, point.manifest["server"]) == f"{run_id} {point.step}".encode() * 500
    return len(seen)


def test_two_processes_writing_at_once_lose_nothing(store: Store, script: Script) -> None:
    names = ["a-000001", "b-000001"]
    for name in names:
        create_run(store, a_run(name))
    for process in [script(WRITER, name, "60") for name in names]:
        finished(process)
    assert [whole(store, name) for name in names] == [60, 60]


def test_a_writer_killed_at_any_instant_leaves_whole_steps(location: str, script: Script) -> None:
    with open_store(location) as store:
        create_run(store, a_run(run_id := "fedavg-000001"))
    before = 0
    for delay in (0.0, 0.0331, 0.1177):
        process = script(WRITER, run_id, "1000000")
        assert process.stdout is not None
        assert process.stdout.readline() == f"{before}\n"
        time.sleep(delay)
        process.kill()
        process.wait()
        with open_store(location) as store:
            after = whole(store, run_id)
            assert read.find_run(store, run_id).status == "killed"
        assert after > before
        before = after


def test_a_killed_writer_goes_on_from_an_older_checkpoint(store: Store, run_id: str, script: Script) -> None:
    finished(script(WRITER, run_id, "3"))
    newest, older = read.checkpoints(store, run_id)
    blobs.blob_path(store, newest.manifest["server"]).write_bytes(b"damaged")
    rewind(store, run_id, older.step)
    finished(script(WRITER, run_id, "1"))
    assert whole(store, run_id) == 3
