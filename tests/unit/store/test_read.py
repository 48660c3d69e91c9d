from __future__ import annotations

import pytest

from equipoise.core.errors import NoSuchRun, StoreError
from equipoise.store import read, write
from equipoise.store.database import Store
from equipoise.store.transact import writing

from .conftest import a_run


def ids(runs: list[read.Run]) -> list[str]:
    return [run.run_id for run in runs]


def test_runs_come_newest_first(store: Store) -> None:
    for number in range(3):
        write.create_run(store, a_run(f"run-{number}"))
    assert ids(read.runs(store)) == ["run-2", "run-1", "run-0"]


def test_runs_are_picked(store: Store) -> None:
    write.create_run(store, a_run("a-1", name="a", sweep="s", config_hash="x"))
    write.create_run(store, a_run("a-2", name="a", sweep="t", config_hash="y"))
    write.create_run(store, a_run("b-1", name="b", sweep="s", config_hash="y"))
    write.finish(store, "a-1", "done")
    assert ids(read.runs(store, name="a")) == ["a-2", "a-1"]
    assert ids(read.runs(store, sweep="s")) == ["b-1", "a-1"]
    assert ids(read.runs(store, config_hash="y", sweep="s")) == ["b-1"]
    assert ids(read.runs(store, status="done")) == ["a-1"]
    assert ids(read.runs(store, status="killed")) == ["b-1", "a-2"]
    assert ids(read.runs(store, status="running")) == []


def test_the_configuration_comes_back_as_it_was(store: Store) -> None:
    config = {"name": "été", "client": {"rate": 1e-3, "epochs": 5}, "list": [1, None, True]}
    write.create_run(store, a_run(config=config))
    assert read.find_run(store, "latest").config == config


def test_a_run_that_nobody_holds_is_killed(store: Store, run_id: str) -> None:
    assert read.find_run(store, run_id).status == "killed"
    with write.hold(store, run_id):
        assert read.find_run(store, run_id).status == "running"
    write.finish(store, run_id, "stopped")
    assert read.find_run(store, run_id).status == "stopped"


def test_of_a_run_on_another_machine_only_the_table_is_known(store: Store, run_id: str) -> None:
    with writing(store) as connection:
        connection.exec_driver_sql("""UPDATE runs SET environment = '{"host": "elsewhere", "pid": 1}'""")
    assert read.find_run(store, run_id).status == "running"


def test_a_run_is_found_by_how_its_id_begins(store: Store) -> None:
    for name in ("fedavg-7k3q9x", "fedavg-7m0000", "fedprox-0a0000"):
        write.create_run(store, a_run(name))
    assert read.find_run(store, "fedavg-7k").run_id == "fedavg-7k3q9x"
    assert read.find_run(store, "fedp").run_id == "fedprox-0a0000"
    assert read.find_run(store, "latest").run_id == "fedprox-0a0000"


def test_an_id_that_begins_another_is_found(store: Store) -> None:
    for name in ("fedavg-1", "fedavg-11"):
        write.create_run(store, a_run(name))
    assert read.find_run(store, "fedavg-1").run_id == "fedavg-1"


def test_a_beginning_of_several_ids_lists_them(store: Store) -> None:
    for number in range(10):
        write.create_run(store, a_run(f"fedavg-{number}"))
    with pytest.raises(NoSuchRun, match=r"any of 10 runs: fedavg-9, .* and 2 more"):
        read.find_run(store, "fed")


def test_an_unknown_run_suggests_the_nearest(store: Store, run_id: str) -> None:
    with pytest.raises(NoSuchRun, match=r"did you mean fedavg-000001\?") as caught:
        read.find_run(store, "fedagv-000001")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("query", ["", "latest", "%", "fed_vg"])
def test_what_is_not_a_beginning_finds_nothing(store: Store, query: str) -> None:
    with pytest.raises(NoSuchRun, match=r"there is no run .* among 0"):
        read.find_run(store, query)


def test_nothing_is_not_a_beginning(store: Store, run_id: str) -> None:
    with pytest.raises(NoSuchRun, match="`equipoise ls` lists the runs"):
        read.find_run(store, "")


def test_a_partition_that_is_not_there(store: Store) -> None:
    with pytest.raises(StoreError, match="there is no partition 'f0'"):
        read.partition(store, "f0")
