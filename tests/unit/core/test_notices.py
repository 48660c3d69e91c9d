"""A wait says what it is for: once when that changes, again after half a minute, to whoever follows."""

from __future__ import annotations

from equipoise.core import notices as module
from equipoise.core.notices import NOTICES, Waiting


def test_it_says_what_changed_and_nothing_twice(monkeypatch):
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    heard: list[str] = []
    with NOTICES.shown_by(heard.append):
        waiting = Waiting(600)
        for text in ("a and b", "a and b", "b"):
            waiting.for_(text)
    assert heard == ["waiting for a and b; 0 of 600 s", "waiting for b; 0 of 600 s"]


def test_it_repeats_itself_when_nothing_changes_for_long(monkeypatch):
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.0)
    heard: list[str] = []
    with NOTICES.shown_by(heard.append):
        waiting = Waiting(600)
        waiting.for_("b")
        waiting.for_("b")
    assert len(heard) == 2


def test_a_short_wait_is_silent():
    heard: list[str] = []
    with NOTICES.shown_by(heard.append):
        Waiting(600).for_("b")
    assert heard == []


def test_before_there_is_a_run_it_says_so_on_stderr(capsys):
    NOTICES.say("waiting for machines")
    assert capsys.readouterr().err == "waiting for machines\n"


def test_it_is_over_after_its_patience():
    assert Waiting(-1.0).is_over
    assert not Waiting(600).is_over
