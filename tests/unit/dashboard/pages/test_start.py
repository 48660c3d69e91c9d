"""Starting a run: presets for all, what was started for those with the token."""

from __future__ import annotations

from equipoise.config.loader import preset_files
from equipoise.dashboard.pages.start import shown_job, start_page
from equipoise.dashboard.view import Dashboard, Visitor
from tests.unit.dashboard.visits import ACTING, Visits, until


def test_what_was_started_is_shown_to_those_who_may_act(own: Visits, board: Dashboard) -> None:
    order = {"preset": "fedavg", "settings": ["data.limit=200", "partition.clients=999"]}
    assert own.owner.post("/start", headers=ACTING, json=order).status_code == 202
    [job] = board.actions.jobs
    assert until(lambda: job.exit_code is not None)
    assert job.exit_code == 2, job.output  # 999 clients of 200 samples: found when the data is there
    shown = shown_job(job)
    assert (shown.state, shown.exit_code, shown.run_id) == ("failed", 2, None)
    assert "999" in shown.what
    assert shown.output.strip()
    assert start_page(board, Visitor("en", True)).jobs == [shown]
    assert start_page(board, Visitor("en", False)).jobs == []
    assert shown.output.splitlines()[0][:20] in own.owner.get("/start").text
    assert "partition.clients=999" not in own.stranger.get("/start").text


def test_a_reader_sees_no_form(own: Visits) -> None:
    assert 'id="order"' not in own.stranger.get("/start").text
    assert "needs the token" in own.stranger.get("/start").text
    assert 'id="order"' in own.owner.get("/start").text


def test_the_presets_are_names_of_the_product(board: Dashboard) -> None:
    found = start_page(board, Visitor("en", False)).presets
    assert found == sorted(found)
    assert set(found) <= preset_files().keys()
