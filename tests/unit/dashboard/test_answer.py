"""Which form an answer takes, in which language, and who shares what was rendered."""

from __future__ import annotations

import pytest

from equipoise.dashboard.view import Dashboard
from equipoise.store import write
from equipoise.store.locks import hold

from .conftest import written_run
from .visits import ACTING, PORT, TOKEN, Visits

RUN = "fedavg-000001"
PART = {"x-part": "main", "accept": "text/html"}


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/json"),
        ("application/json;q=0.9", "application/json"),
        ("text/html", "text/html"),
        ("*/*", "text/html"),
        ("", "text/html"),
        ("application/json, text/html", "text/html"),
    ],
)
def test_a_program_that_wants_json_gets_it(visitors: Visits, accept: str, kind: str) -> None:
    answer = visitors.stranger.get("/", headers={"accept": accept})
    assert answer.headers["content-type"].partition(";")[0] == kind
    if kind == "text/html":
        assert {"Accept", "Cookie"} <= set(answer.headers["vary"].split(", "))


def test_a_chosen_language_is_remembered(visitors: Visits) -> None:
    chosen = visitors.stranger.get("/?lang=zh")
    assert chosen.headers["set-cookie"].startswith("equipoise-language=zh")
    assert '<html lang="zh">' in chosen.text
    remembered = visitors.stranger.get("/", headers={"cookie": "equipoise-language=zh", "accept-language": "en"})
    assert '<html lang="zh">' in remembered.text


def test_a_refresh_gives_the_part_that_changes(visitors: Visits) -> None:
    part = visitors.stranger.get("/", headers=PART).text
    assert "<!doctype" not in part
    assert part.strip() in visitors.stranger.get("/").text


def test_pages_that_refresh_share_what_was_rendered_until_something_changed(own: Visits, board: Dashboard) -> None:
    before = own.stranger.get("/", headers=PART).text
    written_run(board.store)
    assert own.stranger.get("/", headers=PART).text == before
    assert RUN in own.stranger.get("/").text  # somebody who asks gets it as it is
    board.feed.told += 1
    assert RUN in own.stranger.get("/", headers=PART).text


def test_what_was_rendered_for_one_is_not_shown_to_another(own: Visits, board: Dashboard) -> None:
    written_run(board.store)
    write.finish(board.store, RUN, "failed")
    page = f"/runs/{RUN}"
    texts = [
        own.owner.get(page, headers=PART).text,
        own.stranger.get(page, headers=PART).text,
        own.stranger.get(page, headers={**PART, "accept-language": "zh"}).text,
        own.stranger.get(page, headers={**PART, "accept": "application/json"}).text,
    ]
    assert len(set(texts)) == 4
    assert [f"{page}/resume" in text for text in texts] == [True, False, False, False]


def test_a_page_that_asks_after_an_action_sees_it(own: Visits, board: Dashboard) -> None:
    written_run(board.store)
    with hold(board.store, RUN):
        page = own.owner.get(f"/runs/{RUN}", headers=PART).text
        assert f"/runs/{RUN}/stop" in page
        assert own.owner.post(f"/runs/{RUN}/stop", headers=ACTING, json={}).status_code == 202
        page = own.owner.get(f"/runs/{RUN}", headers=PART).text
        assert f"/runs/{RUN}/stop" not in page
        assert "Asked to stop" in page


def test_few_rendered_pages_are_kept(own: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    from equipoise.dashboard import answer

    kept: list[int] = []
    monkeypatch.setattr(answer, "KEPT", 3)
    done = answer.AnswerCache._done

    def counted(self, *arguments):
        body = done(self, *arguments)
        kept.append(len(self._kept))
        return body

    monkeypatch.setattr(answer.AnswerCache, "_done", counted)
    for number in range(10):
        own.stranger.get(f"/?text={number}", headers=PART)
    assert max(kept) == 3


def test_the_cookie_signs_in(own: Visits) -> None:
    signed = own.stranger.get("/start?format=json", headers={"cookie": f"equipoise-{PORT}={TOKEN}"})
    assert signed.json()["may_act"] is True
    assert own.stranger.get("/start?format=json").json()["may_act"] is False
