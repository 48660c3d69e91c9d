"""Client × checkpoint numbers, kept column by column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from equipoise.core.values import Row
from equipoise.dashboard import grids as module
from equipoise.dashboard.grids import Grids
from equipoise.store import write
from equipoise.store.database import Store, open_store
from tests.unit.store.conftest import a_run

RUN, NAME = "fedavg-000001", "accuracy/test"
Numbers = Mapping[int, float]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "grids.db")) as opened:
        write.create_run(opened, a_run(RUN))
        yield opened


def commit(store: Store, step: int, numbers: Numbers, run_id: str = RUN) -> None:
    rows = [Row(step, step, client, NAME, value) for client, value in numbers.items()]
    others = [Row(step, step, None, NAME, 99.0), Row(step, step, 0, "loss/base", 98.0)]
    write.commit_step(store, run_id, step, [*rows, *others], [], {})


def test_one_row_per_client_and_one_column_per_checkpoint(store: Store) -> None:
    commit(store, 0, {0: 0.25, 1: 0.5})
    commit(store, 1, {0: 0.75, 1: 1.0})
    grid = Grids(store).grid(RUN, NAME)
    assert (grid.steps, grid.n_steps) == ([0, 1], 2)
    assert grid.values.dtype == np.float32
    assert grid.values.tolist() == [[0.25, 0.75], [0.5, 1.0]]


def test_a_new_checkpoint_is_seen_and_costs_one_column(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    grids, read = Grids(store), list[int]()
    original = Grids._read

    def counted(self, run_id, metric, known, steps):
        read.extend(steps)
        original(self, run_id, metric, known, steps)

    monkeypatch.setattr(Grids, "_read", counted)
    for step in range(3):
        commit(store, step, {0: step / 4})
        assert grids.grid(RUN, NAME).values.tolist() == [[s / 4 for s in range(step + 1)]]
    assert read == [0, 1, 2]


def test_clients_that_come_later_and_clients_that_are_not_asked(store: Store) -> None:
    commit(store, 0, {1: 0.5})
    commit(store, 1, {0: 0.25, 3: 0.75})
    nothing = math.nan
    expected = [[nothing, 0.25], [0.5, nothing], [nothing, nothing], [nothing, 0.75]]
    np.testing.assert_array_equal(Grids(store).grid(RUN, NAME).values, np.array(expected, np.float32))


def test_numbers_that_are_none_stay_visible_as_such(store: Store) -> None:
    commit(store, 0, {0: math.nan, 1: math.inf, 2: -math.inf, 3: 1e300})
    column = Grids(store).grid(RUN, NAME).values[:, 0]
    assert math.isnan(column[0])
    assert column[1:].tolist() == [math.inf, -math.inf, math.inf]  # 1e300 is beyond float32


def test_a_wide_range_is_thinned_and_a_narrow_one_is_whole(store: Store) -> None:
    for step in range(40):
        commit(store, step, {0: float(step)})
    grids = Grids(store)
    wide = grids.grid(RUN, NAME, most=10)
    assert len(wide.steps) <= 10
    assert (wide.steps[0], wide.steps[-1], wide.n_steps) == (0, 39, 40)
    assert wide.values.tolist() == [[float(step) for step in wide.steps]]
    assert set(np.diff(wide.steps)) <= {4, 5}  # 39 / 9 is between
    narrow = grids.grid(RUN, NAME, first=7, last=9, most=10)
    assert (narrow.steps, narrow.values.tolist(), narrow.n_steps) == ([7, 8, 9], [[7.0, 8.0, 9.0]], 3)
    assert grids.grid(RUN, NAME, first=38, most=10).steps == [38, 39]


def test_a_run_that_was_taken_back_shows_its_new_numbers(store: Store) -> None:
    for step in range(3):
        commit(store, step, {0: 1.0})
    grids = Grids(store)
    grids.grid(RUN, NAME)
    write.rewind(store, RUN, 0)
    assert grids.grid(RUN, NAME).steps == [0]
    commit(store, 1, {0: 2.0})
    assert grids.grid(RUN, NAME).values.tolist() == [[1.0, 2.0]]


def test_what_nobody_recorded_is_an_empty_grid(store: Store) -> None:
    grid = Grids(store).grid(RUN, "no/such")
    assert (grid.steps, grid.values.shape, grid.n_steps) == ([], (0, 0), 0)
    assert Grids(store).grid("no-such-run", NAME).steps == []
    commit(store, 0, {0: 1.0})
    assert Grids(store).grid(RUN, NAME, first=5).steps == []
    assert Grids(store).grid(RUN, NAME, first=10**30, last=0).steps == []


def test_runs_and_metrics_are_kept_apart(store: Store) -> None:
    other = "fedavg-000002"
    write.create_run(store, a_run(other))
    commit(store, 0, {0: 0.25})
    commit(store, 0, {0: 0.5}, other)
    grids = Grids(store)
    found = [grids.grid(*about).values.tolist() for about in ((RUN, NAME), (other, NAME), (RUN, "loss/base"))]
    assert found == [[[0.25]], [[0.5]], [[98.0]]]


def test_what_was_asked_for_the_longest_ago_is_forgotten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 6)  # bytes: one number of four
    commit(store, 0, {0: 0.25})
    grids = Grids(store)
    for metric in (NAME, "loss/base", NAME):
        assert grids.grid(RUN, metric).values.shape == (1, 1)
        assert [key[1] for key in grids._known] == [metric]
