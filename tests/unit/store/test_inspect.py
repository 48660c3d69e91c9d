"""A store looked at as it is; on SQLite, and on PostgreSQL where there is a server."""

from __future__ import annotations

import uuid

import pytest
from sqlalchemy import text

from equipoise.core.errors import WrongStore
from equipoise.store.database import Store, as_it_is, open_store
from equipoise.store.inspect import inspected
from equipoise.store.migrations import MIGRATIONS
from equipoise.store.transact import writing
from equipoise.store.write import create_run
from tests.unit.store.conftest import a_run


def test_a_store_of_this_version_lacks_nothing_and_takes_writes(store: Store, location: str) -> None:
    create_run(store, a_run())
    found = inspected(location)
    assert (found.migrations, found.runs, found.refuses_writes) == ([], 1, "")


def test_a_database_without_tables_stays_without(postgres_url: str) -> None:
    assert inspected(postgres_url).migrations == list(MIGRATIONS)
    assert inspected(postgres_url).migrations == list(MIGRATIONS)


def test_a_store_that_another_process_is_writing_to_is_not_refused(store: Store, location: str) -> None:
    with writing(store) as connection:
        connection.execute(text("DELETE FROM runs"))
        assert inspected(location).refuses_writes == ""


def test_a_user_without_rights_is_told(postgres_url: str) -> None:
    role, schema = f"reader_{uuid.uuid4().hex[:8]}", postgres_url.rpartition("%3D")[2]
    with open_store(postgres_url) as store:
        change(
            store,
            f"CREATE ROLE {role} LOGIN",
            f"GRANT USAGE ON SCHEMA {schema} TO {role}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
        )
        try:
            assert "may not write" in inspected(postgres_url.replace("postgres@", f"{role}@")).refuses_writes
        finally:
            change(store, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def change(store: Store, *statements: str) -> None:
    with writing(store) as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_what_is_no_store_is_refused(tmp_path) -> None:
    (tmp_path / "notes").write_text("no database " * 100, encoding="utf-8")
    with pytest.raises(WrongStore, match="not a database"):
        inspected(str(tmp_path / "notes"))


def test_opening_it_as_it_is_creates_no_file(tmp_path) -> None:
    as_it_is(str(tmp_path / "none.db"), 1).close()
    assert list(tmp_path.iterdir()) == []
