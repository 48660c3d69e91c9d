"""One run: its verdict, how it stands, its events, machines and protocol."""

from __future__ import annotations

import html

import yaml

from equipoise.config.loader import load
from equipoise.core.values import Event, Row
from equipoise.dashboard.pages.run import EVENTS, MAPS, maps, run_page
from equipoise.dashboard.view import Dashboard, Visitor
from equipoise.store import read, write
from equipoise.store.locks import hold
from equipoise.store.watching import request, set_progress
from tests.unit.dashboard.conftest import written_run
from tests.unit.dashboard.visits import Visits

RUN = "fedavg-000001"
OWNER, READER = Visitor("en", True), Visitor("en", False)


def page(board: Dashboard, run_id: str = RUN, visitor: Visitor = OWNER):
    return run_page(board, read.find_run(board.store, run_id), visitor)


def test_a_run_that_is_done(shared: Dashboard, done: list[str]) -> None:
    found = page(shared, done[0])
    assert (found.run.status, found.run.done, found.now, found.fused_from) == ("done", 2, None, None)
    assert (found.may_stop, found.may_resume, found.asked) == (False, False, [])
    assert (found.is_examined, found.examined_until) == (True, None)
    assert [each.code for each in found.findings] == [each["code"] for each in read.findings(shared.store, done[0])]
    assert found.protocol


def test_its_configuration_is_a_preset_that_gives_it_again(shared: Dashboard, done: list[str]) -> None:
    run = read.find_run(shared.store, done[1])
    assert load(yaml.safe_load(page(shared, done[1]).config)).config.fingerprint() == run.config_hash


def test_findings_say_from_which_checkpoint_counted_from_one(board: Dashboard) -> None:
    written_run(board.store)
    body = {"severity": "error", "clients": [2], "evidence": [], "cause": "", "remedy": "", "override": "", "saw": ""}
    found = [{**body, "code": "a", "steps": [4, 7]}, {**body, "code": "b", "steps": []}]
    write.set_findings(board.store, RUN, found)
    write.finish(board.store, RUN, "failed", "no")
    assert [(each.code, each.began) for each in page(board).findings] == [("a", 5), ("b", None)]


def test_a_run_that_goes_on_says_who_trains_and_can_be_stopped_once(board: Dashboard, own: Visits) -> None:
    written_run(board.store)
    few = {"n": 1, "clients": [7]}
    now = {"step": 1, "steps": 3, "share": 0.5, "left": None, "seconds": 1.0, "is_late": True}
    who = {"training": {"n": 100, "clients": list(range(100))}, "answered": few, "failed": few, "stopped": few}
    set_progress(board.store, RUN, {**now, **who})
    with hold(board.store, RUN):
        found = page(board)
        assert found.now is not None
        assert found.now["training"]["n"] == 100
        assert (found.may_stop, found.may_resume) == (True, False)
        assert not page(board, visitor=READER).may_stop
        text = own.stranger.get(f"/runs/{RUN}").text
        assert "and 60 more" in text
        assert "Checkpoint 2 of 3" in text
        assert "Late" in text
        request(board.store, RUN, "stop")
        assert (page(board).may_stop, page(board).asked) == (False, ["stop"])
    assert page(board).run.status == "killed"
    assert (page(board).now, page(board).may_resume, page(board, visitor=READER).may_resume) == (None, True, False)


def test_events_are_the_newest_first_and_not_too_many(board: Dashboard, own: Visits) -> None:
    written_run(board.store)
    write.add_events(board.store, RUN, [Event("data-note", f"note {number}") for number in range(EVENTS + 5)])
    found = page(board)
    assert (found.n_events, len(found.events)) == (EVENTS + 5, EVENTS)
    assert (found.events[0].message, found.events[-1].message) == (f"note {EVENTS + 4}", "note 5")
    assert f"The newest {EVENTS} of {EVENTS + 5} events" in own.stranger.get(f"/runs/{RUN}").text


def test_machines_are_shown_in_their_newest_state(board: Dashboard) -> None:
    written_run(board.store)
    order = [("machine-joined", "b"), ("machine-joined", "a"), ("machine-lost", "b"), ("machine-refused", "c")]
    write.add_events(board.store, RUN, [Event(kind, kind, detail={"machine": name}) for kind, name in order])
    assert [(each.name, each.state) for each in page(board).machines] == [
        ("a", "joined"),
        ("b", "lost"),
        ("c", "refused"),
    ]


def test_refused_clients_are_those_of_the_newest_checkpoint(board: Dashboard) -> None:
    written_run(board.store)
    for step, clients in ((0, [0, 1]), (1, [2, 2])):
        events = [Event("update-refused", "no", step=step, client=client) for client in clients]
        write.commit_step(board.store, RUN, step, [], events, {})
    assert page(board).refused == [2]


def test_there_is_a_map_of_what_clients_recorded_in_a_fixed_order(board: Dashboard) -> None:
    written_run(board.store)
    names = ["loss/zeta", "update/norm", "accuracy/test", "loss/base", "other"]
    rows = [Row(0, 0, 0, name, 1.0) for name in names] + [Row(0, 0, None, "lam/used", 1.0)]
    write.commit_step(board.store, RUN, 0, rows, [], {})
    assert maps(board, RUN) == ["accuracy/test", "loss/base", "update/norm", "loss/zeta"]
    assert [name for name in MAPS if name in names] == maps(board, RUN)[:3]


def test_a_fused_run_names_its_origin(board: Dashboard, own: Visits) -> None:
    written_run(board.store)
    write.add_events(board.store, RUN, [Event("fused", "of", detail={"from": "fedavg-000000"})])
    assert page(board).fused_from == "fedavg-000000"
    assert 'href="/runs/fedavg-000000"' in own.stranger.get(f"/runs/{RUN}").text


def test_the_page_shows_the_whole_configuration_and_says_it_in_chinese(visitors: Visits, done: list[str]) -> None:
    text = visitors.stranger.get(f"/runs/{done[0]}").text
    assert "partition:" in html.unescape(text)
    chinese = visitors.stranger.get(f"/runs/{done[0]}?lang=zh").text
    assert '<html lang="zh">' in chinese
    assert "Verdict" not in chinese
