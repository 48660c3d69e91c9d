"""The store and the data folder as the doctor finds them. Nothing is created or migrated."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from equipoise.api.doctor.imported import datasets
from equipoise.api.doctor.places import store_checkups
from equipoise.store.database import open_store


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_store_of_this_version_is_counted(tmp_path: Path) -> None:
    open_store(tmp_path / "mine.db").close()
    (checkup,) = store_checkups(str(tmp_path / "mine.db"))
    assert checkup.state == "ok"
    assert "0 runs" in checkup.says


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    (checkup,) = store_checkups(str(tmp_path / "runs" / "none.db"))
    assert checkup.state == "ok"
    assert "the first run makes" in checkup.says
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_made_is_broken(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (checkup,) = store_checkups(str(tmp_path / "file" / "none.db"))
    assert checkup.state == "broken"
    assert "EQUIPOISE_STORE" in checkup.fix


def test_an_older_store_is_a_note_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    open_store(path).close()
    change(path, "DROP TABLE sweeps", "DELETE FROM migrations WHERE name = '0003-named-sweeps'")
    before = path.read_bytes()
    (checkup,) = store_checkups(str(path))
    assert checkup.state == "note"
    assert "0003-named-sweeps" in checkup.says
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    open_store(path).close()
    change(path, "INSERT INTO migrations VALUES ('9999-later', 'now')")
    (checkup,) = store_checkups(str(path))
    assert (checkup.state, "newer version" in checkup.says) == ("broken", True)
    assert "pip install --upgrade equipoise" in checkup.fix


def test_what_is_no_store_is_broken(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 100, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for place in ("notes.txt", "folder"):
        (checkup,) = store_checkups(str(tmp_path / place))
        assert checkup.state == "broken"
        assert checkup.fix


def test_a_server_that_does_not_answer_is_broken_and_its_password_is_not_told() -> None:
    pytest.importorskip("psycopg")
    (checkup,) = store_checkups("postgresql://me:geheim@127.0.0.1:1/none")
    assert (checkup.state, "cannot be reached" in checkup.says) == ("broken", True)
    assert "geheim" not in checkup.says + checkup.fix


def test_the_data_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)
    assert [each.state for each in datasets()] == ["note"]
    monkeypatch.setenv("EQUIPOISE_DATA", str(tmp_path / "none"))
    (missing,) = datasets()
    assert (missing.state, "which is no folder" in missing.says) == ("broken", True)
    monkeypatch.setenv("EQUIPOISE_DATA", str(tmp_path))
    assert [each.says for each in datasets()] == [f"{tmp_path}: none of the known sets"]
