from __future__ import annotations

import math
import os
import socket
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import NoSuchRun, StoreError
from equipoise.core.values import Event, Row
from equipoise.store import read, tables, write
from equipoise.store.database import Store
from equipoise.store.records import Client, PartitionRecord
from equipoise.store.transact import reading, writing

from .conftest import a_run

PARTITION = PartitionRecord(
    fingerprint="f1",
    name="dirichlet",
    options={"alpha": 0.1},
    skew={"mean_labels": np.float64(2.5)},
    counts=np.array([[3, 0], [1, 2]]),  # type: ignore[arg-type]
    overlaps=False,
    owners="d" * 64,
)


def commit(store: Store, run_id: str, step: int) -> None:
    rows = [Row(step, step, None, "accuracy", step / 10), Row(step, step, 0, "loss", 1.0)]
    write.commit_step(store, run_id, step, rows, [Event("evaluated", f"step {step}")], {"server": f"{step:064x}"})


def count(store: Store, table: str) -> int:
    with reading(store) as connection:
        return int(connection.exec_driver_sql(f"SELECT COUNT(*) FROM {table}").scalar() or 0)


def test_a_new_run_says_where_it_runs(store: Store) -> None:
    write.create_run(store, a_run(environment={"data": Path("somewhere"), "threads": 1}, sweep="s", cell="alpha=0.1"))
    run = read.find_run(store, "fedavg-000001")
    here = {"data": "somewhere", "threads": 1, "host": socket.gethostname(), "pid": os.getpid()}
    assert (run.environment, run.sweep, run.cell) == (here, "s", "alpha=0.1")
    assert (run.finished, run.error, run.partition, run.created == run.updated) == (None, None, None, True)


def test_a_step_is_written_as_one(store: Store, run_id: str) -> None:
    commit(store, run_id, 0)
    assert [row.name for row in read.rows(store, run_id)] == ["accuracy", "loss"]
    assert [seen.event for seen in read.events(store, run_id)] == [Event("evaluated", "step 0", step=0)]
    assert read.checkpoints(store, run_id)[0].manifest == {"server": "0" * 64}


def test_a_step_that_fails_halfway_leaves_nothing(store: Store, run_id: str) -> None:
    unwritable = Event("odd", "", detail={"thing": object()})
    with pytest.raises(StoreError, match="cannot be kept as JSON"):
        write.commit_step(store, run_id, 0, [Row(0, 0, None, "accuracy", 0.5)], [unwritable], {})
    assert [count(store, name) for name in ("metrics", "events", "checkpoints")] == [0, 0, 0]


def test_steps_only_go_forward(store: Store, run_id: str) -> None:
    commit(store, run_id, 1)
    for step in (0, 1):
        with pytest.raises(StoreError, match=f"step {step} .* cannot be recorded: step 1 is there already"):
            write.commit_step(store, run_id, step, [], [], {})


def test_rows_and_events_of_another_step_are_a_mistake(store: Store, run_id: str) -> None:
    with pytest.raises(AssertionError, match="a row of step 1 among those of step 0"):
        write.commit_step(store, run_id, 0, [Row(1, 1, None, "accuracy", 0.5)], [], {})
    with pytest.raises(AssertionError, match="an event of step 1 among those of step 0"):
        write.commit_step(store, run_id, 0, [], [Event("note", "", step=1)], {})


def test_nan_is_null_and_infinity_is_itself(store: Store, run_id: str) -> None:
    values = {"a": math.nan, "b": math.inf, "c": -math.inf, "d": np.float32(0.5), "e": 5e-324}
    rows = [Row(0, None, None, name, value) for name, value in values.items()]  # type: ignore[arg-type]
    write.commit_step(store, run_id, 0, rows, [], {})
    with reading(store) as connection:
        kept = connection.exec_driver_sql("SELECT value FROM metrics ORDER BY name").scalars().all()
    assert kept == [None, math.inf, -math.inf, 0.5, 5e-324]
    assert math.isnan(read.final_metrics(store, run_id)["a"])


def test_events_keep_their_order_and_other_peoples_words(store: Store, run_id: str) -> None:
    odd = "file \udcff and \0 zero — été 日本"
    write.add_events(store, run_id, [Event("note", odd, detail={"λ": math.inf, odd: [1]}), Event("note", "2", 3, 4)])
    first, second = read.events(store, run_id)
    assert first.event.message == "file \\udcff and \\x00 zero — été 日本"
    assert first.event.detail == {"λ": math.inf, odd: [1]}
    assert (second.event.step, second.event.client, first.time <= second.time) == (3, 4, True)


@pytest.mark.parametrize("status", ["done", "failed", "stopped"])
def test_a_run_ends(store: Store, run_id: str, status: write.Ending) -> None:
    write.finish(store, run_id, status, error="it broke \udcff" if status == "failed" else None)
    run = read.find_run(store, run_id)
    assert run.status == status
    assert run.finished is not None
    assert run.error == ("it broke \\udcff" if status == "failed" else None)


def test_a_run_that_ended_goes_on(store: Store, run_id: str) -> None:
    write.finish(store, run_id, "failed", "it broke")
    with write.hold(store, run_id):
        write.restart(store, run_id, {"data": "elsewhere"})
        run = read.find_run(store, run_id)
    assert (run.status, run.finished, run.error) == ("running", None, None)
    assert run.environment["data"] == "elsewhere"


def test_rewinding_forgets_what_came_after(store: Store, run_id: str) -> None:
    write.create_run(store, a_run("other-000001"))
    for step in range(4):
        commit(store, run_id, step)
        commit(store, "other-000001", step)
    write.add_events(store, run_id, [Event("stopped", "by hand")])
    with writing(store) as connection:
        finding = {"run_id": run_id, "code": "collapse", "severity": "error", "body": {}}
        connection.execute(tables.findings.insert().values(finding))
    write.rewind(store, run_id, 1)
    assert [point.step for point in read.checkpoints(store, run_id)] == [1, 0]
    assert {row.step for row in read.rows(store, run_id)} == {0, 1}
    assert [seen.event.message for seen in read.events(store, run_id)] == ["step 0", "step 1", "by hand"]
    assert count(store, "findings") == 0
    assert len(read.rows(store, "other-000001")) == 8
    commit(store, run_id, 2)
    write.rewind(store, run_id, -1)
    assert (read.rows(store, run_id), read.checkpoints(store, run_id)) == ([], [])


def test_the_newest_checkpoints_stay(store: Store, run_id: str) -> None:
    for step in range(5):
        commit(store, run_id, step)
    write.prune(store, run_id)
    assert [point.step for point in read.checkpoints(store, run_id)] == [4, 3]
    assert len(read.rows(store, run_id)) == 10
    write.prune(store, run_id, keep=1)
    assert read.referenced(store) == {f"{4:064x}"}


def test_a_run_is_announced_as_a_whole(store: Store, run_id: str) -> None:
    clients = [Client(1, 3, [1, 2]), Client(0, 3, [3, 0])]
    for name in ("one-000001", "other-000001"):
        write.create_run(store, a_run(name), PARTITION, clients, [Event("started", "now")])
    assert count(store, "partitions") == 1, "recorded once per fingerprint"
    assert read.find_run(store, "other-000001").partition == "f1"
    found = read.partition(store, "f1")
    assert (found.counts, found.skew, found.overlaps) == ([[3, 0], [1, 2]], {"mean_labels": 2.5}, False)
    assert read.referenced(store) == {"d" * 64}
    assert read.clients(store, "one-000001") == [Client(0, 3, [3, 0]), Client(1, 3, [1, 2])]
    assert [recorded.event.kind for recorded in read.events(store, "one-000001")] == ["started"]


def test_a_run_that_cannot_be_announced_leaves_nothing(store: Store) -> None:
    with pytest.raises(StoreError):
        write.create_run(store, a_run("one-000001"), PARTITION, [Client(0, 3, [3]), Client(0, 3, [3])])
    assert (count(store, "runs"), count(store, "partitions"), count(store, "clients")) == (0, 0, 0)


def test_members_of_a_sweep_are_replaced_and_keep_their_order(store: Store, run_id: str) -> None:
    write.create_run(store, a_run("other-000001"))
    write.set_members(store, "grid", [("A", run_id)])
    write.set_members(store, "grid", [("B", "other-000001"), ("A", run_id)])
    assert read.members(store, "grid") == [("B", "other-000001"), ("A", run_id)]
    assert read.members(store, "another") == []


def test_a_run_that_is_not_there(store: Store) -> None:
    attempts = [
        lambda: write.commit_step(store, "nobody", 0, [], [], {}),
        lambda: write.add_events(store, "nobody", []),
        lambda: write.finish(store, "nobody", "done"),
        lambda: write.rewind(store, "nobody", 0),
        lambda: write.prune(store, "nobody"),
        lambda: write.restart(store, "nobody", {}),
    ]
    for attempt in attempts:
        with pytest.raises(NoSuchRun, match="run 'nobody' is not in the store"):
            attempt()


def test_an_extended_run_has_its_new_configuration_and_event_and_no_sweep(store: Store) -> None:
    write.create_run(store, a_run(sweep="grid", cell="A"))
    write.create_run(store, a_run("fedavg-000002"))
    write.set_members(store, "grid", [("A", "fedavg-000001"), ("B", "fedavg-000002")])
    write.finish(store, "fedavg-000001", "done")
    longer = replace(read.find_run(store, "fedavg-000001"), config={"rounds": 9}, config_hash="h9")
    write.extend(store, longer, Event("extended", "from 3 to 9 rounds"))
    run = read.find_run(store, "fedavg-000001")
    assert (run.config, run.config_hash, run.sweep, run.cell) == ({"rounds": 9}, "h9", None, None)
    assert (run.status, run.finished) == ("killed", None), "running, says the table, and nobody holds it"
    assert [seen.event.kind for seen in read.events(store, run.run_id)] == ["extended"]
    assert read.members(store, "grid") == [("B", "fedavg-000002")]
