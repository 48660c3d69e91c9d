"""A finished run of another tool comes into the store as a whole, on both databases."""

from __future__ import annotations

import pytest

from equipoise.core.errors import ConfigError, StoreError
from equipoise.core.values import Event, Row
from equipoise.store import importing, read
from equipoise.store.database import Store
from equipoise.store.importing import ImportedEnding, import_run
from equipoise.store.records import IMPORTED, refuse_imported

from .conftest import a_run

RUN = a_run("theirs-000001", method=IMPORTED, environment={"imported": {"tool": "mlflow", "id": "abc", "source": "x"}})


def test_numbers_events_and_end_are_there_and_no_state(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "PIECE", 2)
    rows = [Row(step, step, client, "loss", 1.0) for step in range(3) for client in (None, 1)]
    moments = ("2020-01-01T00:00:00+00:00", "2020-01-02T00:00:00+00:00")
    import_run(store, RUN, ImportedEnding("failed", 2, *moments), rows, [Event("imported", "from x")])
    run = read.find_run(store, RUN.run_id)
    assert (run.status, run.created, run.finished) == ("failed", *moments)
    assert sorted(read.rows(store, RUN.run_id), key=str) == sorted(rows, key=str)
    assert [seen.event.kind for seen in read.events(store, RUN.run_id)] == ["imported"]
    (checkpoint,) = read.checkpoints(store, RUN.run_id)
    assert (checkpoint.step, checkpoint.manifest) == (2, {})
    assert run.origin == "mlflow: abc in x"
    with pytest.raises(ConfigError, match="there are numbers, but nothing to resume"):
        refuse_imported(run, "to resume")


def test_a_number_that_stands_there_twice_leaves_nothing(store: Store, run_id: str) -> None:
    rows = [Row(0, 0, None, "loss", 1.0), Row(0, 0, None, "loss", 2.0)]
    with pytest.raises(StoreError):
        import_run(store, RUN, ImportedEnding("done", 0), rows, [Event("imported", "x")])
    assert [run.run_id for run in read.runs(store)] == [run_id]
    refuse_imported(read.find_run(store, run_id), "to resume")
