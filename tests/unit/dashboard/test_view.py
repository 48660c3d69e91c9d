"""A dashboard is one store with what is known of it; it lets go of everything at its end."""

from __future__ import annotations

from equipoise.dashboard.view import Dashboard
from equipoise.store.database import open_store
from equipoise.store.locks import hold
from equipoise.store.watching import set_progress

from .conftest import written_run
from .visits import visits


def test_each_part_is_made_once(board: Dashboard) -> None:
    for name in ("budget", "changes", "feed", "background", "grids", "verdicts", "actions"):
        assert getattr(board, name) is getattr(board, name)
    assert board.feed.changes is board.changes
    assert board.feed.budget is board.budget


def test_progress_is_that_of_the_store(board: Dashboard) -> None:
    written_run(board.store)
    set_progress(board.store, "fedavg-000001", {"step": 2})
    assert board.progress()["fedavg-000001"]["step"] == 2


def test_how_runs_stand_is_answered_though_no_page_listens(board: Dashboard) -> None:
    run_id = "fedavg-000001"
    written_run(board.store)
    set_progress(board.store, run_id, {"step": 2})
    with visits(board).stranger as client:
        assert client.get("/now").json() == {}  # nobody holds it: it was killed
        with hold(board.store, run_id):
            assert client.get("/now").json()[run_id]["step"] == 2


def test_the_end_of_the_server_lets_go_of_the_store(place: str) -> None:
    board = Dashboard(open_store(place), place)
    with visits(board).stranger as client:
        assert client.get("/now").status_code == 200
        assert not board.feed.is_over
    assert board.feed.is_over
    assert board.store.reader.pool.checkedout() == 0
