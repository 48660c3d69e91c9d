"""Slow answers: what is known at once, and more when it is worked out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from equipoise.core.errors import StoreError
from equipoise.dashboard import background as module
from equipoise.dashboard.background import Background
from equipoise.dashboard.budget import Budget

from .visits import until


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def background(told: list[str]) -> Iterator[Background]:
    made = Background(told.append, Budget())
    yield made
    made.close()


def test_a_page_does_not_wait_and_is_told(background: Background, told: list[str]) -> None:
    gate = threading.Event()
    about = ("run-1", "findings")
    assert background.answer(about, 1, lambda: "found" if gate.wait(60) else "", "nothing yet") == "nothing yet"
    assert told == []
    gate.set()
    assert until(lambda: told) == ["run-1"]
    assert background.answer(about, 1, lambda: pytest.fail("known"), "nothing yet") == "found"


def test_a_newer_due_is_worked_out_while_the_old_answer_stands(background: Background, told: list[str]) -> None:
    about, gate = ("run-1",), threading.Event()
    background.answer(about, 1, lambda: "old", "")
    until(lambda: told)
    assert background.answer(about, 2, lambda: "new" if gate.wait(60) else "", "") == "old"
    gate.set()
    until(lambda: len(told) == 2)
    assert background.answer(about, 2, lambda: "", "") == "new"


def test_the_same_question_is_worked_on_once_at_a_time(background: Background, told: list[str]) -> None:
    gate, worked = threading.Event(), list[int]()

    def work() -> str:
        worked.append(1)
        gate.wait(60)
        return "found"

    for _ in range(5):
        background.answer(("run-1",), 1, work, "")
    gate.set()
    until(lambda: told)
    assert worked == [1]


def test_a_failure_is_logged_and_tried_again(
    background: Background, told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> str:
        raise StoreError("the store is locked")

    with caplog.at_level(logging.WARNING):
        assert background.answer(("run-1",), 1, broken, "before") == "before"
        until(lambda: "the store is locked" in caplog.text)
    until(lambda: not background._under_way)
    background.answer(("run-1",), 1, lambda: "found", "before")
    until(lambda: told)
    assert background.answer(("run-1",), 1, lambda: "", "before") == "found"


def test_few_answers_are_kept(background: Background, told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    for number in range(3):
        background.answer((f"run-{number}",), 1, lambda: "found", "")
    until(lambda: len(told) == 3)
    assert background.answer(("run-0",), 1, lambda: "found", "forgotten") == "forgotten"
    assert background.answer(("run-2",), 1, lambda: "found", "forgotten") == "found"
