"""Names for a shell's completion; on SQLite, and on PostgreSQL where there is a server."""

from __future__ import annotations

from pathlib import Path

from equipoise.store import ids, read
from equipoise.store.database import Store
from equipoise.store.write import create_run
from tests.unit.store.conftest import a_run


def test_runs_newest_first_as_the_store_lists_them(store: Store, location: str) -> None:
    for run_id in ("fedavg-000001", "moon-000002", "fedavg-000003"):
        create_run(store, a_run(run_id))
    assert ids.names("runs", location) == [run.run_id for run in read.runs(store)]
    assert len(ids.names("runs", location)) == 3


def test_a_store_without_sweeps_names_none(store: Store, location: str) -> None:
    assert ids.names("sweeps", location) == read.sweeps(store) == []


def test_what_is_no_store_names_nothing_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no database " * 100, encoding="utf-8")
    for place in ("notes", "none.db", "."):
        assert ids.names("runs", str(tmp_path / place)) == []
    assert ids.names("runs", "postgresql://nobody@127.0.0.1:1/none") == []
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
