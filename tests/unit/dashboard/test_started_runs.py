"""Runs that a page starts, stops and resumes, each in a process of its own."""

from __future__ import annotations

import os

import pytest

from equipoise.dashboard.actions import Actions
from equipoise.dashboard.view import Dashboard
from equipoise.store import read
from equipoise.store.database import open_store

from .test_actions import SMALL
from .visits import ACTING, Visits, until

pytestmark = pytest.mark.slow


def test_a_started_run_appears_stops_and_resumes_to_the_same_numbers(own: Visits, board: Dashboard) -> None:
    """Each in a process of its own, as the page starts them."""
    settings = [*SMALL[:-1], "rounds=400"]
    answer = own.owner.post("/start", headers=ACTING, json={"preset": "fedavg", "settings": settings})
    assert answer.status_code == 202
    assert answer.json()["state"] == "running"
    [started] = board.actions.jobs
    run_id = until(lambda: started.run_id)
    until(lambda: len(read.checkpoints(board.store, run_id)) > 0)
    assert own.owner.post(f"/runs/{run_id}/stop", headers=ACTING, json={}).status_code == 202
    assert until(lambda: started.exit_code is not None)
    assert read.find_run(board.store, run_id).status == "stopped", started.output
    reached = read.checkpoints(board.store, run_id)[0].step
    assert reached < 399
    page = own.owner.get("/start", headers={"accept": "text/html"}).text
    assert f'href="/runs/{run_id}"' in page
    assert own.owner.post(f"/runs/{run_id}/resume", headers=ACTING, json={}).status_code == 202
    until(lambda: read.checkpoints(board.store, run_id)[0].step > reached)


def test_actions_do_not_end_with_the_dashboard(place: str) -> None:
    """The process leads a session of its own, so that Ctrl-C at the dashboard's terminal does not reach it."""
    with open_store(place) as store:
        actions = Actions(store, place)
        started = actions.start("fedavg", SMALL)
        assert os.getsid(started.process.pid) == started.process.pid
        assert until(lambda: started.exit_code is not None)
        assert started.exit_code == 0, started.output
        assert read.find_run(store, str(started.run_id)).status == "done"
