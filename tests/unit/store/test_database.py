from __future__ import annotations

import sys
from pathlib import Path

import pytest

from equipoise.core.errors import MissingExtra, StoreError, WrongStore
from equipoise.store import blobs, read
from equipoise.store.database import Store, default_location, open_store
from equipoise.store.transact import reading, writing
from equipoise.store.write import create_run

from .conftest import a_run


def test_a_new_store_is_made_and_found_again(location: str) -> None:
    with open_store(location) as store:
        create_run(store, a_run())
    with open_store(location) as store:
        assert [run.run_id for run in read.runs(store)] == ["fedavg-000001"]


def test_the_folder_is_made(tmp_path: Path) -> None:
    with open_store(tmp_path / "a" / "b" / "runs.db") as store:
        assert store.blobs == tmp_path / "a" / "b" / "runs.blobs"
    assert (tmp_path / "a" / "b" / "runs.db").exists()


def test_a_path_may_hold_characters_that_mean_something_in_a_url(tmp_path: Path) -> None:
    path = tmp_path / "50 % done?mode=ro#1.db"
    with open_store(path) as store:
        create_run(store, a_run())
    assert path.exists()


def test_the_place_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_STORE", raising=False)
    assert default_location() == "runs/equipoise.db"
    monkeypatch.setenv("EQUIPOISE_STORE", "elsewhere.db")
    open_store().close()
    assert (tmp_path / "elsewhere.db").exists()


def test_blobs_stay_where_they_are_when_the_current_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("runs/equipoise.db") as store:
        assert store.blobs == tmp_path / "runs" / "equipoise.blobs"


def test_sqlite_is_set_up_to_lose_nothing(sqlite_path: Path) -> None:
    with open_store(sqlite_path, patience=1.5) as store, writing(store) as connection:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    assert found == ["wal", 2, 1, 1500]


def test_opening_a_current_store_writes_nothing(sqlite_path: Path) -> None:
    open_store(sqlite_path).close()
    before = sqlite_path.read_bytes()
    with open_store(sqlite_path) as store:
        assert store.writer.pool.checkedin() == 0  # type: ignore[attr-defined]
    assert sqlite_path.read_bytes() == before


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError, match="read-only"), reading(store) as connection:
        connection.exec_driver_sql("DELETE FROM runs")


def test_a_reader_does_not_wait_for_a_long_write(store: Store, run_id: str) -> None:
    with writing(store) as connection:
        connection.exec_driver_sql("UPDATE runs SET name = 'changed'")
        assert read.find_run(store, run_id).name == "fedavg"
    assert read.find_run(store, run_id).name == "changed"


@pytest.mark.parametrize("url", ["mysql://host/runs", "sqlite:///runs.db"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(StoreError, match="a store cannot be kept in") as caught:
        open_store(url)
    assert caught.value.exit_code == 2


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(StoreError, match="URL cannot be read") as caught:
        open_store("postgresql://host:port/runs")
    assert caught.value.exit_code == 2


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'equipoise\[postgres\]'"):
        open_store("postgresql://host/runs")


def test_a_server_that_is_not_there_is_an_error_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/runs?connect_timeout=2")
    assert "secret" not in str(caught.value)


def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a folder"):
        open_store(tmp_path)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be read or written"):
        open_store(tmp_path / "file" / "equipoise.db")


def test_a_name_too_long_for_the_disk_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="File name too long"):
        open_store(tmp_path / ("x" * 300))


def test_two_stores_in_one_folder_keep_their_files_apart(tmp_path: Path) -> None:
    with open_store(tmp_path / "one.db") as one, open_store(tmp_path / "two.db") as two:
        digest = blobs.put(one, b"weights")
        blobs.gc(two, set)
        assert blobs.get(one, digest) == b"weights"


def test_a_server_remembers_where_its_files_are(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(postgres_url) as store:
        folder = store.blobs
    monkeypatch.delenv("EQUIPOISE_BLOBS")
    monkeypatch.chdir(tmp_path)
    with open_store(postgres_url) as store:
        assert store.blobs == folder
    monkeypatch.setenv("EQUIPOISE_BLOBS", str(tmp_path / "elsewhere"))
    with pytest.raises(WrongStore, match="keeps its files in"):
        open_store(postgres_url)
