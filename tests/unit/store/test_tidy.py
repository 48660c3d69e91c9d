from __future__ import annotations

import pytest

from equipoise.core.errors import StoreError
from equipoise.store import blobs, read, tables, tidy
from equipoise.store.database import Store
from equipoise.store.transact import writing
from equipoise.store.write import commit_step, create_run, hold

from .conftest import a_run


def with_files(store: Store, run_id: str, *parts: bytes) -> None:
    create_run(store, a_run(run_id))
    manifest = {f"part {i}": blobs.put(store, part) for i, part in enumerate(parts)}
    commit_step(store, run_id, 0, [], [], manifest)


def test_what_a_run_shares_with_another_is_not_freed(store: Store) -> None:
    with_files(store, "a-000001", b"x" * 100, b"y" * 30)
    with_files(store, "b-000001", b"y" * 30)
    assert tidy.would_free(store, ["a-000001"]) == 100
    assert tidy.would_free(store, ["b-000001"]) == 0
    assert tidy.would_free(store, ["a-000001", "b-000001"]) == 130
    tidy.remove(store, ["a-000001"])
    assert [run.run_id for run in read.runs(store)] == ["b-000001"]
    assert tidy.left_over(store) == 100
    blobs.gc(store, lambda: read.referenced(store))
    assert tidy.left_over(store) == 0
    assert tidy.would_free(store, ["b-000001"]) == 30


def test_a_run_that_somebody_works_on_is_not_removed(store: Store) -> None:
    with_files(store, "a-000001", b"x")
    with_files(store, "b-000001", b"y")
    with hold(store, "a-000001"), pytest.raises(StoreError, match="somebody is working on a-000001"):
        tidy.remove(store, ["a-000001", "b-000001"])
    assert len(read.runs(store)) == 2


def test_a_run_of_another_machine_is_not_removed_while_it_says_running(store: Store) -> None:
    with_files(store, "a-000001", b"x")
    with writing(store) as connection:
        connection.execute(tables.runs.update().values(environment={"host": "elsewhere"}))
    with pytest.raises(StoreError, match="on another machine"):
        tidy.remove(store, ["a-000001"])
