"""Actions as addresses."""

from __future__ import annotations

import pytest

from equipoise.dashboard.view import Dashboard
from equipoise.store import write
from equipoise.store.locks import hold
from equipoise.store.watching import requested

from .conftest import written_run
from .visits import ACTING, Visits, visits

RUN = "fedavg-000001"


def test_a_prefix_of_an_id_and_latest_name_the_run_that_is_answered(own: Visits, board: Dashboard) -> None:
    written_run(board.store)
    with hold(board.store, RUN):
        for name in ("latest", "fedavg-0", RUN):
            assert own.owner.post(f"/runs/{name}/stop", headers=ACTING, json={}).json()["run_id"] == RUN
    assert requested(board.store, RUN) == ["stop"]


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..", "a%2fb", "%00", "*", "%25", "nothing"])
def test_other_names_do_nothing(own: Visits, board: Dashboard, name: str) -> None:
    written_run(board.store)
    with hold(board.store, RUN):
        for action in ("stop", "resume"):
            assert own.owner.post(f"/runs/{name}/{action}", headers=ACTING, json={}).status_code in {404, 405}
    assert requested(board.store, RUN) == []
    assert board.actions.jobs == []


def test_a_killed_run_cannot_be_stopped(own: Visits, board: Dashboard) -> None:
    written_run(board.store)
    answer = own.owner.post(f"/runs/{RUN}/stop", headers=ACTING, json={})
    assert answer.status_code == 400
    assert "killed" in answer.json()["error"]


def test_an_action_reaches_its_own_store_only(own: Visits, board: Dashboard, shared: Dashboard) -> None:
    written_run(board.store)
    with hold(board.store, RUN):
        assert visits(shared).owner.post(f"/runs/{RUN}/stop", headers=ACTING, json={}).status_code == 404
    assert requested(board.store, RUN) == []


def test_reading_shows_no_button_and_the_token_does(own: Visits, board: Dashboard) -> None:
    written_run(board.store)
    write.finish(board.store, RUN, "failed", "no")
    address = f'data-post="/runs/{RUN}/resume"'
    assert address not in own.stranger.get(f"/runs/{RUN}").text
    assert address in own.owner.get(f"/runs/{RUN}").text
