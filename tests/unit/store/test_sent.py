"""How far a run was sent to trackers, and the numbers that are sent, on both databases."""

from __future__ import annotations

import math

from equipoise.core.values import Row
from equipoise.store import tables, write
from equipoise.store.database import Store
from equipoise.store.sent import SentTo, sent_to, set_sent, step_numbers
from equipoise.store.transact import reading, writing


def test_a_tracker_has_its_id_and_the_last_checkpoint_it_acknowledged(store: Store, run_id: str) -> None:
    assert sent_to(store, run_id, "mlflow", "here") is None
    set_sent(store, run_id, SentTo("mlflow", "here", "abc"))
    set_sent(store, run_id, SentTo("mlflow", "there", "xyz", 4))
    set_sent(store, run_id, SentTo("mlflow", "here", "abc", 7))
    assert sent_to(store, run_id, "mlflow", "here") == SentTo("mlflow", "here", "abc", 7)
    assert sent_to(store, run_id, "mlflow", "there") == SentTo("mlflow", "there", "xyz", 4)


def test_it_goes_with_its_run(store: Store, run_id: str) -> None:
    set_sent(store, run_id, SentTo("mlflow", "here", "abc"))
    with writing(store) as connection:
        connection.execute(tables.runs.delete())
    with reading(store) as connection:
        assert connection.execute(tables.trackers.select()).all() == []


def test_the_numbers_of_a_checkpoint_and_the_means_over_all_clients(store: Store, run_id: str) -> None:
    rows = [Row(0, 0, None, "accuracy", 0.5), *(Row(0, 0, client, "loss", float(client)) for client in range(4))]
    rows += [Row(0, 0, 3, "odd", math.nan), Row(0, 0, 0, "other", 9.0)]
    write.commit_step(store, run_id, 0, rows, [], {})
    found = step_numbers(store, run_id, 0, ["accuracy", "loss", "odd"], 2)
    assert sorted(found.single, key=str) == [(0, "loss", 0.0), (1, "loss", 1.0), (None, "accuracy", 0.5)]
    assert list(found.means) == [("loss", (0 + 1 + 2 + 3) / 4)]
    everyone = step_numbers(store, run_id, 0, ["loss"], None)
    assert (len(everyone.single), list(everyone.means)) == (4, [])
    assert step_numbers(store, run_id, 1, ["loss"], 2).single == []
