from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from equipoise.core.errors import StoreError
from equipoise.store import migrations, tables
from equipoise.store.database import Store, open_store
from equipoise.store.transact import reading, writing

from .conftest import Script, finished


def test_the_migrations_make_the_tables_that_queries_see(store: Store) -> None:
    with reading(store) as connection:
        found = inspect(connection)
        made = {table: {column["name"] for column in found.get_columns(table)} for table in found.get_table_names()}
    assert made == {name: set(table.columns.keys()) for name, table in tables.metadata.tables.items()}


def test_columns_have_the_types_that_queries_expect(store: Store) -> None:
    kinds = {"TEXT": "text", "BIGINT": "integer", "INTEGER": "integer", "BOOLEAN": "boolean"}
    with reading(store) as connection:
        for name, table in tables.metadata.tables.items():
            made = {column["name"]: str(column["type"]) for column in inspect(connection).get_columns(name)}
            for column in table.columns:
                asked = str(column.type.compile(connection.dialect))
                assert kinds.get(made[column.name], "number") == kinds.get(asked, "number"), f"{name}.{column.name}"


def test_a_store_of_a_newer_version_is_refused(location: str) -> None:
    with open_store(location) as store, writing(store) as connection:
        connection.execute(tables.migrations.insert().values(name="9999-later", applied="2100-01-01"))
    with pytest.raises(StoreError, match=r"written by a newer version of Equipoise .*9999-later") as caught:
        open_store(location)
    assert caught.value.exit_code == 2


def test_a_store_of_an_older_version_is_brought_up_to_date(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def add_column(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN colour TEXT")

    open_store(location).close()
    monkeypatch.setitem(migrations.MIGRATIONS, "0002-colour", add_column)
    for _ in range(2):
        with open_store(location) as store, reading(store) as connection:
            assert "colour" in {column["name"] for column in inspect(connection).get_columns("runs")}
            assert migrations.missing(connection, store) == []


def test_a_migration_that_fails_leaves_nothing(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (x TEXT)")
        connection.exec_driver_sql("SELECT nonsense FROM nowhere")

    open_store(location).close()
    with monkeypatch.context() as patch:
        patch.setitem(migrations.MIGRATIONS, "0002-half", fail)
        with pytest.raises(StoreError, match="nowhere"):
            open_store(location)
    with open_store(location) as store, reading(store) as connection:
        assert "half" not in inspect(connection).get_table_names()


def test_a_database_of_somebody_else_is_left_alone(sqlite_path: Path) -> None:
    theirs = sqlite3.connect(sqlite_path)
    theirs.execute("CREATE TABLE bookmarks (url TEXT)")
    theirs.close()
    with pytest.raises(StoreError, match="not ours: bookmarks") as caught:
        open_store(sqlite_path)
    assert caught.value.exit_code == 2


def test_processes_that_open_a_new_store_at_once_all_succeed(script: Script) -> None:
    code = """
        import time
        from equipoise.store.database import open_store
        from equipoise.store.read import runs
        time.sleep(max(0, float(ARGUMENTS[0]) - time.time()))
        with open_store(LOCATION) as store:
            print(len(runs(store)))
    """
    together = str(time.time() + 1.0)
    processes = [script(code, together) for _ in range(4)]
    assert [finished(process) for process in processes] == ["0\n"] * 4
