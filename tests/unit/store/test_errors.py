"""Whatever goes wrong below becomes one StoreError that says what, where and what next."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise.core.errors import StoreError
from equipoise.core.values import Row
from equipoise.store import blobs, read
from equipoise.store.database import Store, open_store
from equipoise.store.transact import reading, writing
from equipoise.store.write import commit_step, create_run, finish

from .conftest import Script, a_run, finished


def rows(count: int, step: int = 0) -> list[Row]:
    return [Row(step, step, None, f"metric-{number}", float(number)) for number in range(count)]


def test_a_locked_store(location: str) -> None:
    with open_store(location) as other, open_store(location, patience=0.1) as store:
        with writing(other) as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("LOCK TABLE runs IN EXCLUSIVE MODE")
            with pytest.raises(StoreError, match="the store is locked") as caught:
                create_run(store, a_run())
        assert caught.value.where == store.location
        assert caught.value.fix
        create_run(store, a_run())


def test_a_read_only_postgres(postgres_url: str) -> None:
    open_store(postgres_url).close()
    with open_store(f"{postgres_url} -cdefault_transaction_read_only%3Don") as store:
        assert read.runs(store) == []
        with pytest.raises(StoreError, match="read-only"):
            create_run(store, a_run())


AS_NOBODY = """
    import os
    from equipoise.core.errors import StoreError
    from equipoise.store import blobs, database, read, write
    from equipoise.store.records import NewRun
    if os.getuid() == 0:
        os.setgroups([]), os.setgid(65534), os.setuid(65534)  # root may write anywhere
    about = dict(name="x", method="x", seed=0, config={}, config_hash="x", headline="x", version="x")
    with database.open_store(ARGUMENTS[0]) as store:
        print("runs:", len(read.runs(store)))
        for attempt in (lambda: write.create_run(store, NewRun(run_id="x", **about)), lambda: blobs.put(store, b"x")):
            try:
                attempt()
            except StoreError as error:
                print(error.what)
"""


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder in which everybody may write, also somebody who cannot look into our own."""
    with tempfile.TemporaryDirectory(prefix="equipoise-test-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_a_read_only_file_can_be_read_and_not_written(public_folder: Path, script: Script, location: str) -> None:
    path = public_folder / "equipoise.db"
    with open_store(path) as store:
        create_run(store, a_run())
        blobs.put(store, b"something")
    path.chmod(0o444)
    (public_folder / "equipoise.blobs").chmod(0o555)
    for name in ("gc.lock", "migrate.lock"):
        (public_folder / "equipoise.blobs" / name).chmod(0o444)
    printed = finished(script(AS_NOBODY, str(path)))
    (public_folder / "equipoise.blobs").chmod(0o755)
    first, *errors = printed.splitlines()
    assert first == "runs: 1"
    assert len(errors) == 2
    assert all("read-only" in error for error in errors), printed


def test_a_full_disk_keeps_the_whole_steps(store: Store, run_id: str) -> None:
    commit_step(store, run_id, 0, rows(3), [], {})
    with writing(store) as connection:
        if connection.dialect.name == "sqlite":
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        else:  # the server says so with this code when its disk is full
            connection.exec_driver_sql(
                "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$"
            )
            connection.exec_driver_sql("CREATE TRIGGER no_room BEFORE INSERT ON metrics EXECUTE FUNCTION no_room()")
    with pytest.raises(StoreError, match="the disk is full"):
        commit_step(store, run_id, 1, rows(5000, step=1), [], {})
    assert [checkpoint.step for checkpoint in read.checkpoints(store, run_id)] == [0]
    assert len(read.rows(store, run_id)) == 3


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full(tiny_disk: Path) -> None:
    with open_store(tiny_disk / "equipoise.db") as store:
        create_run(store, a_run())
        commit_step(store, "fedavg-000001", 0, rows(3), [], {})
        with pytest.raises(StoreError, match="the disk is full"):
            blobs.put(store, os.urandom(2_000_000))
        assert not list(store.blobs.glob("??/*"))
        (tiny_disk / "ballast").write_bytes(bytes(500_000))
        with pytest.raises(StoreError, match="the disk is full"):
            commit_step(store, "fedavg-000001", 1, rows(20_000, step=1), [], {})
        (tiny_disk / "ballast").unlink()
        commit_step(store, "fedavg-000001", 1, rows(3, step=1), [], {})
        assert len(read.rows(store, "fedavg-000001")) == 6


def test_a_file_that_is_no_database(sqlite_path: Path) -> None:
    sqlite_path.write_bytes(random.Random(0).randbytes(8192))
    with pytest.raises(StoreError, match="not a database") as caught:
        open_store(sqlite_path)
    assert caught.value.exit_code == 2


def test_a_damaged_database(sqlite_path: Path) -> None:
    with open_store(sqlite_path) as store:
        create_run(store, a_run())
    whole = bytearray(sqlite_path.read_bytes())
    whole[4096:] = random.Random(0).randbytes(len(whole) - 4096)
    sqlite_path.write_bytes(whole)
    with pytest.raises(StoreError, match="damaged"), open_store(sqlite_path) as store:
        read.runs(store)


def test_a_server_that_ends_the_connection(postgres_url: str) -> None:
    end = "SELECT pg_terminate_backend(pg_backend_pid())"
    with open_store(postgres_url) as store:
        with pytest.raises(StoreError, match="cannot be reached"), reading(store) as connection:
            connection.exec_driver_sql(end)
        assert read.runs(store) == []


def test_the_same_run_twice(store: Store, run_id: str) -> None:
    with pytest.raises(StoreError, match="there already"):
        create_run(store, a_run(run_id))


def test_the_same_number_twice(store: Store, run_id: str) -> None:
    with pytest.raises(StoreError, match="there already"):
        commit_step(store, run_id, 0, [*rows(1), *rows(1)], [], {})


def test_a_status_that_does_not_exist(store: Store, run_id: str) -> None:
    with pytest.raises(StoreError):
        finish(store, run_id, "asleep")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["accuracy\ud800", "accuracy\0"])
def test_a_name_that_is_no_text(store: Store, run_id: str, name: str) -> None:
    if name.endswith("\0") and store.writer.dialect.name == "sqlite":
        commit_step(store, run_id, 0, [Row(0, 0, None, name, 1.0)], [], {})
        assert read.rows(store, run_id)[0].name == name
    else:
        with pytest.raises(StoreError, match="refused the request"):
            commit_step(store, run_id, 0, [Row(0, 0, None, name, 1.0)], [], {})
        assert read.checkpoints(store, run_id) == []


def test_a_seed_too_large_for_a_database(store: Store) -> None:
    with pytest.raises(StoreError):
        create_run(store, a_run(seed=2**64))


def test_an_error_of_the_driver_without_a_name(sqlite_path: Path) -> None:
    with open_store(sqlite_path) as store:
        with pytest.raises(StoreError, match="no such table: nowhere") as caught, reading(store) as connection:
            connection.exec_driver_sql("SELECT * FROM nowhere")
        assert isinstance(caught.value.__cause__.orig, sqlite3.Error)  # type: ignore[union-attr]
