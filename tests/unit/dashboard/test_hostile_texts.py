"""Whatever a run, a setting, an event, an error or an address says, it stays a text."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from equipoise.dashboard.view import Dashboard

from .conftest import run_of
from .hostile import MARK, PAYLOAD, RUN, add_hostile_run
from .visits import HOST, JSON, Visits

PAGES = ("/", f"/runs/{RUN}", f"/compare?run={RUN}&run=fedavg", "/start", "SWEEP", "/nowhere")


class Elements(HTMLParser):
    """Reads a page as a browser does: the elements, their attributes, and the text inside of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] == "script":
            self.scripts.append(data)


@pytest.fixture
def hostile(board: Dashboard, own: Visits) -> Visits:
    run_of(board.store, "rounds=1")
    add_hostile_run(board.store)
    return own


def address(page: str) -> str:
    from urllib.parse import quote

    return f"/sweeps/{quote(PAYLOAD, safe='')}" if page == "SWEEP" else page


def assert_is_harmless(text: str) -> None:
    page = Elements(text)
    for tag, attributes in page.found:
        assert tag not in {"img", "iframe", "object", "style", "base"}
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
        for name in ("href", "src", "action"):
            link = attributes.get(name)
            assert link in {None, "#main"} or (link.startswith("/") and not link.startswith(("//", "/\\"))), link
        if tag == "script":
            assert (attributes.get("src") or "").startswith("/assets/") or attributes.get("type") == "application/json"
    for script in page.scripts:
        if script.strip():
            json.loads(script)  # data, and nothing that a browser would run
    assert f"<b>{MARK}" not in text
    assert f"<script>{MARK}" not in text


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("page", PAGES)
def test_pages_show_hostile_texts_as_texts(hostile: Visits, page: str, language: str) -> None:
    answer = hostile.owner.get(address(page), headers={"accept-language": language})
    assert answer.headers["content-type"].startswith("text/html")
    assert_is_harmless(answer.text)
    assert "49" not in [each.strip() for each in answer.text.split()]  # {{ 7*7 }}
    if page not in {"/start", "/nowhere"}:
        assert MARK in answer.text  # it is there, as a text
        assert answer.status_code == 200


@pytest.mark.parametrize("page", [*PAGES[:3], f"/runs/{RUN}/charts", f"/runs/{RUN}/map?metric=loss/x"])
def test_json_holds_them_as_they_are(hostile: Visits, page: str) -> None:
    answer = hostile.stranger.get(page, headers=JSON)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    answer.json()


def test_no_control_character_reaches_a_page_through_an_events_text(hostile: Visits) -> None:
    text = hostile.stranger.get(f"/runs/{RUN}").text
    assert "\x00" not in text


@pytest.mark.parametrize(
    "path",
    [
        b"/runs/%3Cscript%3Ezzmark()%3C/script%3E", b"/%22%20onload=zzmark()%20x=%22", b"/sweeps/%3Cimg%20src=x%3E",
        b"//evil.example/x", b"///evil.example", b"/\\evil.example", b"/runs/%0d%0aset-cookie:%20a=b", b"/runs/%00",
        b"/runs/%ff%fe", b"/runs/..%2f..%2fetc%2fpasswd", b"/sweeps/../../etc/passwd", b"/sweeps/%2e%2e/%2e%2e",
        b"/runs/{{7*7}}", b"/runs/%7B%7B7*7%7D%7D", b"/x?%0d%0a",
    ],
)  # fmt: skip
def test_an_unknown_address_is_answered_by_a_harmless_page(visitors: Visits, path: bytes) -> None:
    for query in (b"", b"lang=zh&x=%22%3E%3Cscript%3Ezzmark()", b"format=html&a=%0d%0ax:y"):
        answer = visitors.raw("GET", path, query, headers=[(b"host", HOST.encode()), (b"accept", b"text/html")])
        assert answer.status == 404
        assert_is_harmless(answer.body.decode())
        assert all(value.isprintable() for value in answer.headers.values())
        assert "a=b" not in answer.headers.get("set-cookie", "")


@pytest.mark.parametrize("language", ["%0d%0ax:y", "en%0d%0a", "../en", "EN", "xx", "en;path=/"])
def test_a_language_that_is_none_leaves_no_cookie(visitors: Visits, language: str) -> None:
    answer = visitors.stranger.get(f"/?lang={language}")
    assert (answer.status_code, answer.headers.get("set-cookie")) == (200, None)
    assert '<html lang="en">' in answer.text
