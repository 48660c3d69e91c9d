"""An excerpt: at most 100 checkpoints and 20 clients, with the numbers of the store."""

from __future__ import annotations

import math

import pytest

from equipoise.core.values import Row
from equipoise.dashboard.excerpt import CLIENTS, STEPS, curve_of, excerpt
from equipoise.dashboard.view import Dashboard
from equipoise.diagnose.recording import SERVER
from equipoise.diagnose.stored import stored
from equipoise.store import read, write

from .conftest import written_run

RUN = "fedavg-000001"


def test_a_short_run_is_there_whole(shared: Dashboard, done: list[str]) -> None:
    run = read.find_run(shared.store, done[1])
    part, whole = excerpt(shared.store, run), stored(shared.store, run)
    shown = [name for name in whole.curves if not name.startswith(("rank/", "hash/", "grad/unreached/"))]
    assert sorted(part.curves) == sorted(shown)
    for name in shown:
        for owner, curve in whole.curves[name].items():
            assert part.curves[name][owner].steps.tolist() == curve.steps.tolist()
            assert part.curves[name][owner].values.tolist() == pytest.approx(curve.values.tolist(), nan_ok=True)


@pytest.fixture
def long_run(board: Dashboard) -> Dashboard:
    written_run(board.store)
    for step in range(250):
        rows = [Row(step, step, client, "accuracy/test", step + client / 100) for client in range(CLIENTS + 5)]
        rows += [Row(step, step, None, "accuracy/merged", math.nan if step == 249 else step / 1000)]
        write.commit_step(board.store, RUN, step, rows, [], {})
    return board


def test_a_long_run_of_many_clients_is_thinned(long_run: Dashboard) -> None:
    part = excerpt(long_run.store, read.find_run(long_run.store, RUN))
    clients = part.curves["accuracy/test"]
    assert sorted(clients) == list(range(CLIENTS))
    assert SERVER in part.curves["accuracy/merged"]
    for client, curve in clients.items():
        assert len(curve.steps) <= STEPS
        assert (curve.steps[0], curve.steps[-1]) == (0, 249)
        assert curve.values.tolist() == pytest.approx([step + client / 100 for step in curve.steps])


def test_a_curve_is_the_servers_or_the_mean_of_the_first_clients(long_run: Dashboard) -> None:
    server = curve_of(long_run.store, RUN, "accuracy/merged")
    assert 249 not in server.steps  # not a number there
    assert server.values.tolist() == pytest.approx([step / 1000 for step in server.steps])
    mean = curve_of(long_run.store, RUN, "accuracy/test", mean=True)
    assert mean.values.tolist() == pytest.approx([step + sum(range(20)) / 20 / 100 for step in mean.steps])
    assert len(curve_of(long_run.store, RUN, "no/such")) == 0
