"""A bar in a notebook, with a notebook that is not there."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import equipoise as eq
from equipoise.api.notebook import is_notebook
from equipoise.api.progress import ProgressLines, Silent, follower

from .conftest import TINY


class Display:
    """IPython's display, which remembers what it was last given."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def __call__(self, html: str, display_id: bool) -> Display:
        assert display_id
        self.update(html)
        return self

    def update(self, html: str) -> None:
        self.shown.append(html)


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Display:
    """A kernel of a notebook, as far as one can see from here."""
    ipython, of_display, display = ModuleType("IPython"), ModuleType("IPython.display"), Display()
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    of_display.HTML, of_display.display = str, display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", of_display)
    return display


def test_a_run_in_a_notebook_draws_one_bar_again_and_again(display: Display, place: Path) -> None:
    run = eq.run("fedavg", TINY, rounds=2, store=place)
    assert run.id in display.shown[0]
    assert "value='0.0000' max='2'" in display.shown[0]
    assert "value='2.0000' max='2'" in display.shown[-1]
    assert "round 2 of 2" in display.shown[-1]
    assert "accuracy" in display.shown[-1]


def test_what_is_said_on_the_way_is_escaped(display: Display, place: Path) -> None:
    from equipoise.api.notebook import NotebookProgress

    class Notes(NotebookProgress):
        def checkpoint(self, record: Any) -> None:
            super().checkpoint(record)
            self.note("<b>loud</b>")

    eq.run("fedavg", TINY, rounds=1, store=place, progress=Notes())
    assert "&lt;b&gt;loud&lt;/b&gt;" in display.shown[-1]


def test_a_shell_on_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch, display: Display) -> None:
    assert is_notebook()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", SimpleNamespace)
    assert not is_notebook()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    assert not is_notebook()


def test_without_terminal_and_notebook_nothing_is_said_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(follower(None), Silent)
    assert isinstance(follower(False), Silent)
    assert isinstance(follower(True), ProgressLines)
    mine = Silent()
    assert follower(mine) is mine
