from __future__ import annotations

import math

import polars as pl
import pytest

from equipoise.core.values import Row
from equipoise.store.database import Store
from equipoise.store.metrics import final_metrics, metrics, rows
from equipoise.store.write import commit_step, create_run

from .conftest import a_run


@pytest.fixture
def recorded(store: Store, run_id: str) -> list[Row]:
    """Two steps; the server's accuracy, and two clients' loss."""
    every = []
    for step in range(2):
        server = [Row(step, step, None, "accuracy", 0.5 + step / 4), Row(step, step, None, "loss", math.nan)]
        every += (of_step := [*server, Row(step, step, 0, "loss", 1.0 - step), Row(step, step, 1, "loss", math.inf)])
        commit_step(store, run_id, step, reversed(of_step), [], {})
    return every


def test_rows_come_by_step_then_client_with_the_server_first(store: Store, run_id: str, recorded: list[Row]) -> None:
    assert repr(rows(store, run_id)) == repr(recorded)


def test_rows_are_picked(store: Store, run_id: str, recorded: list[Row]) -> None:
    assert [row.value for row in rows(store, run_id, names=["accuracy"])] == [0.5, 0.75]
    assert [row.value for row in rows(store, run_id, client=0)] == [1.0, 0.0]
    assert [row.value for row in rows(store, run_id, client=0, step=1)] == [0.0]
    assert [row.name for row in rows(store, run_id, step=1, client="server")] == ["accuracy", "loss"]
    assert rows(store, run_id, names=["accuracy"], client=1) == []


def test_the_table_has_a_column_for_each_part_of_a_row(store: Store, run_id: str, recorded: list[Row]) -> None:
    table = metrics(store, run_id)
    assert table.columns == ["run_id", "step", "round", "client", "name", "value"]
    assert table["client"].to_list() == [None, None, 0, 1] * 2
    assert table["value"].null_count() == 0
    assert table["value"].is_nan().sum() == 2


def test_the_table_of_several_runs(store: Store, run_id: str, recorded: list[Row]) -> None:
    create_run(store, a_run("other-000001"))
    commit_step(store, "other-000001", 0, [Row(0, None, None, "accuracy", 0.9)], [], {})
    best = metrics(store, [run_id, "other-000001"], names=["accuracy"]).group_by("run_id").agg(pl.col("value").max())
    assert dict(best.iter_rows()) == {run_id: 0.75, "other-000001": 0.9}


def test_a_table_without_rows_keeps_its_columns(store: Store, run_id: str) -> None:
    table = metrics(store, run_id)
    assert (table.shape, table.schema["value"], table.schema["round"]) == ((0, 6), pl.Float64, pl.Int64)


def test_the_final_numbers_are_the_servers_last(store: Store, run_id: str, recorded: list[Row]) -> None:
    commit_step(store, run_id, 2, [Row(2, 2, 0, "loss", 3.0)], [], {})
    final = final_metrics(store, run_id)
    assert list(final) == ["accuracy", "loss"]
    assert final["accuracy"] == 0.75
    assert math.isnan(final["loss"])


def test_a_run_without_steps_has_no_final_numbers(store: Store, run_id: str) -> None:
    assert final_metrics(store, run_id) == {}
