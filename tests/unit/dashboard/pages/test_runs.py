"""The list of runs: filtered, newest first, fifty to a page."""

from __future__ import annotations

import pytest

from equipoise.dashboard.pages import runs as module
from equipoise.dashboard.pages.runs import RunFilter, runs_page
from equipoise.dashboard.view import Dashboard
from equipoise.store import read, write
from equipoise.store.locks import hold
from equipoise.store.watching import set_progress
from tests.unit.dashboard.conftest import SWEEP, written_run
from tests.unit.dashboard.visits import Visits


def ids(board: Dashboard, **wanted: object) -> list[str]:
    return [line.run_id for line in runs_page(board, RunFilter(**wanted)).runs]


def test_the_newest_run_is_first(shared: Dashboard) -> None:
    assert ids(shared) == [run.run_id for run in read.runs(shared.store)]
    assert len(ids(shared)) == 3


def test_each_filter_keeps_what_matches(shared: Dashboard, done: list[str]) -> None:
    first, second = done
    assert ids(shared, method="etf-align") == [second]
    assert ids(shared, status="done") == [second, first]
    assert ids(shared, sweep=SWEEP) == [second, first]
    assert ids(shared, sweep=SWEEP, method="fedavg") == [first]
    assert ids(shared, text=first[-6:].upper()) == [first]
    assert ids(shared, text="ALL/SWE") == [second, first]
    assert ids(shared, text="%") == ids(shared, text="_") == ids(shared, status="nothing") == []


def test_what_can_be_chosen_is_what_there_is(shared: Dashboard) -> None:
    page = runs_page(shared, RunFilter(method="etf-align"))
    assert page.counts == {"running": 0, "done": 2, "failed": 0, "stopped": 1, "killed": 0}
    assert page.methods == ["etf-align", "fedavg", "fedavgm"]
    assert page.sweeps == [SWEEP]
    assert (page.n, page.n_pages, page.store) == (1, 1, shared.store.location)


@pytest.mark.parametrize("status", ["", "done", "killed"])
def test_pages_hold_each_run_once(board: Dashboard, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    monkeypatch.setattr(module, "PER_PAGE", 3)
    every = [written_run(board.store, f"fedavg-{number:06}") for number in range(7)]
    for run_id in every if status == "done" else ():
        write.finish(board.store, run_id, "done")
    pages = [runs_page(board, RunFilter(page=number, status=status)) for number in (1, 2, 3, 4)]
    assert [len(page.runs) for page in pages] == [3, 3, 1, 0]
    assert {(page.n, page.n_pages) for page in pages} == {(7, 3)}
    assert sorted(line.run_id for page in pages for line in page.runs) == every


def test_a_run_that_goes_on_is_told_from_one_that_was_killed(board: Dashboard, own: Visits) -> None:
    killed, going = (written_run(board.store, f"fedavg-{name}") for name in ("killed", "going"))
    now = {"step": 1, "steps": 3, "share": 0.5, "left": 90.0, "seconds": 1.0, "is_late": False}
    for run_id in (killed, going):
        set_progress(board.store, run_id, now)
    with hold(board.store, going):
        assert ids(board, status="running") == [going]
        assert ids(board, status="killed") == [killed]
        page = runs_page(board, RunFilter())
        assert (page.counts["running"], page.counts["killed"]) == (1, 1)
        assert {line.run_id: line.now is not None for line in page.runs} == {killed: False, going: True}
        text = own.stranger.get("/").text
    assert 'value="0.5000"' in text  # (1 + 0.5) / 3
    assert "1 min 30 s" in text


def test_the_page_names_every_run_with_a_link_and_a_tick(visitors: Visits, shared: Dashboard) -> None:
    text = visitors.stranger.get("/").text
    for run_id in ids(shared):
        assert f'href="/runs/{run_id}"' in text
        assert f'name="run" value="{run_id}"' in text
    assert f'href="/sweeps/{SWEEP}"' in text
    assert text.count("<h1>") == 1


def test_the_links_of_further_pages_keep_the_filter(
    own: Visits, board: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PER_PAGE", 1)
    for number in range(3):
        written_run(board.store, f"fedavg-{number:06}")
    text = own.stranger.get("/?text=fedavg-0&method=fedavg&page=2").text
    links = [part.partition('"')[0].replace("&amp;", "&") for part in text.split('href="') if "page=" in part]
    pages = [own.stranger.get(f"{link}&format=json").json() for link in links if link.endswith(("page=1", "page=3"))]
    assert sorted(page["wanted"]["page"] for page in pages) == [1, 3]
    assert {(page["wanted"]["text"], page["wanted"]["method"]) for page in pages} == {("fedavg-0", "fedavg")}
