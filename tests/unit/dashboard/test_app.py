"""The addresses: one page and one JSON document each, as the schema says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from equipoise.dashboard.charts import Charts
from equipoise.dashboard.pages.compare import ComparePage
from equipoise.dashboard.pages.map import MapPage
from equipoise.dashboard.pages.run import RunPage
from equipoise.dashboard.pages.runs import RunsPage
from equipoise.dashboard.pages.start import StartPage
from equipoise.dashboard.pages.sweep import SweepPage
from equipoise.dashboard.view import Dashboard

from .conftest import run_of
from .visits import ACTING, JSON, Visits, visits

PAGES: dict[str, Any] = {
    "/": RunsPage,
    "/runs/{run_id}": RunPage,
    "/sweeps/{name}": SweepPage,
    "/compare": ComparePage,
    "/start": StartPage,
    "/runs/{run_id}/map": MapPage,
    "/runs/{run_id}/charts": Charts,
}
FULL = ["/", "/runs/{run_id}", "/sweeps/{name}", "/compare", "/start"]


def address(path: str, done: list[str]) -> str:
    query = {"/compare": f"?run={done[0]}&run={done[1]}", "/runs/{run_id}/map": "?metric=accuracy/test"}
    return path.format(run_id=done[0], name="small%2Fsweep") + query.get(path, "")


@pytest.fixture(scope="module")
def schema(shared: Dashboard) -> dict[str, Any]:
    found: dict[str, Any] = visits(shared).stranger.get("/openapi.json").json()
    return found


def assert_fits(value: Any, schema: dict[str, Any], inner: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator({**inner, "components": schema["components"]}).validate(value)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("path", PAGES)
def test_json_is_what_the_model_and_the_schema_say(
    visitors: Visits, done: list[str], schema: dict[str, Any], path: str, language: str
) -> None:
    for client in (visitors.stranger, visitors.owner):
        answer = client.get(address(path, done), headers={**JSON, "accept-language": language})
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        PAGES[path].model_validate_json(answer.content, strict=True)
        declared = {name.replace(":path", ""): entry for name, entry in schema["paths"].items()}[path]["get"]
        assert_fits(answer.json(), schema, declared["responses"]["200"]["content"]["application/json"]["schema"])


@pytest.mark.parametrize("path", FULL)
def test_the_same_address_is_a_page_for_a_browser(visitors: Visits, done: list[str], path: str) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    page = visitors.stranger.get(address(path, done), headers=browser)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.text.startswith("<!doctype html>")
    mark = "&" if "?" in address(path, done) else "?"
    by_query = visitors.stranger.get(f"{address(path, done)}{mark}format=json", headers=browser)
    by_header = visitors.stranger.get(address(path, done), headers=JSON)
    assert by_query.headers["content-type"] == by_header.headers["content-type"] == "application/json"
    assert by_query.json().keys() == by_header.json().keys()


@pytest.mark.parametrize("path", FULL)
def test_a_page_links_to_its_own_json(visitors: Visits, done: list[str], path: str) -> None:
    page = visitors.stranger.get(address(path, done)).text
    [link] = [part.partition('"')[0] for part in page.split('href="') if "format=json" in part.partition('"')[0]]
    answer = visitors.stranger.get(link.replace("&amp;", "&"))
    assert answer.headers["content-type"] == "application/json"


def test_the_schema_names_every_address_and_no_action_without_its_token(schema: dict[str, Any]) -> None:
    posts = {path for path, entry in schema["paths"].items() if "post" in entry}
    assert posts == {"/runs/{run_id}/stop", "/runs/{run_id}/resume", "/start", "/start/check"}
    gets = {path.replace(":path", "") for path, entry in schema["paths"].items() if "get" in entry}
    assert gets == {*PAGES, "/now", "/changes"}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/nothing-here", 404), ("/sweeps/nothing", 404), ("/nowhere", 404), ("/runs/", 404), ("/compare", 422),
        ("/compare?run=latest", 400), ("/runs/latest/map", 422), ("/runs/nothing/map?metric=x", 404),
        ("/runs/latest/map?metric=x&columns=0", 422), ("/runs/latest/map?metric=x&columns=513", 422),
        ("/runs/latest/map?metric=x&first=-1", 422), (f"/runs/latest/map?metric={'x' * 201}", 422),
        ("/runs/nothing/charts", 404), ("/?page=0", 422), ("/?page=100001", 422), ("/?page=x", 422),
        (f"/?text={'x' * 201}", 422), (f"/?sweep={'x' * 201}", 422), ("/?page=1e3", 422),
        ("/compare?" + "&".join(["run=a"] * 51), 422),
        ("/runs/latest/map?metric=x&last=" + "x" * 4000, 422),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_said_in_both_forms(visitors: Visits, path: str, status: int) -> None:
    asked = visitors.stranger.get(path, headers=JSON)
    assert asked.status_code == status
    problem = asked.json()
    assert problem.keys() == {"status", "error", "next"}
    assert problem["status"] == status
    assert problem["error"]
    page = visitors.stranger.get(path, headers={"accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")


@pytest.mark.parametrize(
    "query",
    [
        "text=%00", "text=%25_%25", "text=%ED%A0%80", "text=';drop table runs;--", "status=%00", "status=nothing",
        "method=%F0%9F%92%A3", "sweep=%ff", "page=100000", "&&&==&=x", "text=a&text=b", "unknown=1", "format=xml",
        "&".join(f"a{i}=1" for i in range(900))[:4000], "lang=" + "x" * 4000, "page=2",
    ],
)  # fmt: skip
def test_strange_queries_find_nothing_or_are_refused(visitors: Visits, query: str) -> None:
    assert visitors.stranger.get(f"/?{query}").status_code in {200, 422}
    assert visitors.stranger.get("/").status_code == 200


def test_the_ids_of_another_store_are_unknown_here(own: Visits, board: Dashboard, done: list[str]) -> None:
    run_of(board.store, "rounds=1")
    for path in PAGES:
        if path in {"/", "/start"}:
            assert not any(run_id in own.owner.get(path, headers=JSON).text for run_id in done)
            continue
        answer = own.owner.get(address(path, done), headers=JSON)
        assert answer.status_code == 404
        assert "small/sweep" not in answer.text or path == "/sweeps/{name}"
    for action in ("stop", "resume"):
        assert own.owner.post(f"/runs/{done[0]}/{action}", headers=ACTING, json={}).status_code == 404
    assert board.actions.jobs == []


def test_an_empty_store_says_how_to_begin(own: Visits) -> None:
    assert "equipoise run fedavg" in own.stranger.get("/").text
    assert own.stranger.get("/now").json() == {}


def test_pages_do_not_change_the_store(visitors: Visits, shared: Dashboard, done: list[str]) -> None:
    from equipoise.store.transact import reading

    with reading(shared.store) as connection:
        before = connection.exec_driver_sql("select run_id, updated, status from runs order by 1").fetchall()
    for path in PAGES:
        visitors.stranger.get(address(path, done))
    with reading(shared.store) as connection:
        after = connection.exec_driver_sql("select run_id, updated, status from runs order by 1").fetchall()
    assert json.dumps([list(row) for row in before]) == json.dumps([list(row) for row in after])
