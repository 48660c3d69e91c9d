"""One map: float32 in base64, one row per client."""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest

from equipoise.core.values import Row
from equipoise.dashboard.pages import map as module
from equipoise.dashboard.pages.map import MapPage, MapRange, map_page
from equipoise.dashboard.view import Dashboard
from equipoise.store import read, write
from tests.unit.dashboard.conftest import written_run
from tests.unit.dashboard.visits import Visits

RUN = "fedavg-000001"


def asked(board: Dashboard, run_id: str, metric: str, **wanted: int) -> MapPage:
    return map_page(board, read.find_run(board.store, run_id), MapRange(metric=metric, **wanted))


def numbers(page: MapPage) -> np.ndarray:
    return np.frombuffer(base64.b64decode(page.values), "<f4").reshape(len(page.clients), len(page.steps))


def test_the_numbers_are_those_of_the_store(shared: Dashboard, done: list[str]) -> None:
    for metric in ("accuracy/train", "loss/base", "update/norm"):
        rows = [row for row in read.rows(shared.store, done[1], names=[metric]) if row.client is not None]
        assert rows, metric
        page = asked(shared, done[1], metric)
        found = numbers(page)
        for row in rows:
            at = page.clients.index(row.client), page.steps.index(row.step)
            assert found[at] == np.float32(row.value)
        assert (page.low, page.high) == (found.min(), found.max())
        assert page.is_share == (metric == "accuracy/train")


def test_what_is_no_number_has_no_colour_and_no_end_of_the_scale(board: Dashboard) -> None:
    written_run(board.store)
    values = [0.25, math.nan, math.inf, -math.inf, 0.75]
    write.commit_step(board.store, RUN, 0, [Row(0, 0, k, "update/cosine", v) for k, v in enumerate(values)], [], {})
    page = asked(board, RUN, "update/cosine")
    assert (page.low, page.high, page.is_cosine, page.is_share) == (0.25, 0.75, True, False)
    np.testing.assert_array_equal(numbers(page)[:, 0], np.array(values, np.float32))


def test_a_large_federation_shows_evenly_spaced_clients(board: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CLIENTS", 5)
    written_run(board.store)
    write.commit_step(board.store, RUN, 0, [Row(0, 0, k, "accuracy/test", k / 100) for k in range(41)], [], {})
    page = asked(board, RUN, "accuracy/test")
    assert (page.clients, page.n_clients) == ([0, 10, 20, 30, 40], 41)
    assert numbers(page)[:, 0].tolist() == pytest.approx([k / 100 for k in page.clients])


def test_nothing_recorded_is_an_empty_map(shared: Dashboard, done: list[str]) -> None:
    page = asked(shared, done[0], "no/such")
    assert (page.clients, page.steps, page.low, page.high, page.values) == ([], [], None, None, "")


def test_a_range_is_asked_for_by_its_ends(visitors: Visits, done: list[str]) -> None:
    address = f"/runs/{done[0]}/map?metric=accuracy/train"
    steps = [visitors.stranger.get(address + end).json()["steps"] for end in ("", "&first=1", "&last=0", "&first=9")]
    assert steps == [[0, 1], [1], [0], []]
    assert visitors.stranger.get(f"{address}&last={'9' * 40}").json()["steps"] == [0, 1]
