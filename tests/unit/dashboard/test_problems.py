"""Errors as answers: status, what happened, what to do next."""

from __future__ import annotations

import pytest
from starlette.exceptions import HTTPException

from equipoise.core.errors import ConfigError, NoSuchRun, StoreError, WrongStore
from equipoise.dashboard import problems

from .visits import ACTING, JSON, Visits


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NoSuchRun("what", where="/secret/place", fix="next"), 404),
        (ConfigError("what", where="/secret/place", fix="next"), 400),
        (StoreError("what", where="/secret/place", fix="next"), 503),
        (WrongStore("what", where="/secret/place", fix="next"), 503),
    ],
)
def test_each_error_has_its_status_and_keeps_the_place_to_itself(error: Exception, status: int) -> None:
    said = problems._said(error)
    assert (said.status, said.error, said.next) == (status, "what", "next")


def test_an_answer_of_the_framework_keeps_its_status() -> None:
    said = problems._said(HTTPException(405, "no"))
    assert (said.status, said.error) == (405, "no")


def test_an_error_of_our_own_making_is_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError):
        problems._said(ZeroDivisionError())


def test_an_action_that_fails_answers_as_json_for_the_script(visitors: Visits) -> None:
    answer = visitors.owner.post("/runs/nothing/stop", headers={**ACTING, "accept": "*/*"}, json={})
    assert answer.status_code == 404
    assert "nothing" in answer.json()["error"]


def test_a_mistyped_id_is_helped_with(visitors: Visits, done: list[str]) -> None:
    near = done[0][:-1] + "-"
    assert done[0] in visitors.stranger.get(f"/runs/{near}", headers=JSON).json()["next"]


def test_the_page_of_a_problem_says_what_to_do(visitors: Visits) -> None:
    page = visitors.stranger.get("/compare?run=latest").text
    assert "2 to 12 different runs can be compared, not 1" in page
    assert "Next:" in page
