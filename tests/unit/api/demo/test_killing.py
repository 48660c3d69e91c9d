"""The run that is killed: what is compared, what is said; nothing waits for ever. `e2e/test_demo.py` kills one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.api.demo import killing
from equipoise.api.demo.killing import Interrupted, Program, compared, killed, told
from equipoise.core.errors import EngineError
from tests.unit.api.conftest import TINY

SAME = Interrupted(
    after=3,
    steps=10,
    n=1857,
    n_equal=1857,
    runs={"never interrupted": "equilibrium-a", "killed and resumed": "killed-b"},
    accuracy={"never interrupted": 260 / 359, "killed and resumed": 260 / 359},
)


def another(tmp_path: Path, code: str) -> Program:
    """A program that is not ours, in place of it."""
    return Program(str(tmp_path / "killed.db"), (sys.executable, "-c", code))


def test_equal_numbers_are_said_to_be_equal() -> None:
    part = told(SAME)
    assert part.says == (
        "Killed with SIGKILL after checkpoint 3 of 10, resumed by a new process: "
        "1,857 of 1,857 recorded numbers are equal to the last bit."
    )
    assert part.rows[1] == ["killed and resumed", "killed-b", "72.4233983286908 %"]
    assert [row["equal"] for row in part.numbers] == [1857, 1857]


def test_numbers_that_differ_are_not_hidden() -> None:
    assert told(replace(SAME, n_equal=1850)).says.endswith("are equal to the last bit; 7 are NOT.")


def test_a_run_is_equal_to_itself_and_not_to_another_seed(one_upload: eq.RunHandle, place: Path) -> None:
    n, n_equal = compared(one_upload, one_upload)
    assert n == n_equal > 10
    other = eq.run("fafi", TINY, checkpoints=1, seed=7, store=place)
    n, n_equal = compared(one_upload, other)
    assert n_equal < n, "another seed has other numbers"


def test_clock_readings_are_left_out(one_upload: eq.RunHandle) -> None:
    assert killing.CLOCK in one_upload.metrics()["name"]
    assert {name for _, _, name in killing._numbers(one_upload)} == set(one_upload.metrics()["name"]) - {killing.CLOCK}


def test_a_program_that_breaks_is_an_error_with_its_last_words(one_upload: eq.RunHandle, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"ended with 1 before it was killed: no room left"):
        killed(one_upload, 1, another(tmp_path, "import sys; sys.exit('no room left')"))


def test_a_run_that_is_always_done_first_is_an_error(one_upload: eq.RunHandle, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="done before it could be killed, 3 times"):
        killed(one_upload, 1, another(tmp_path, "pass"))


def test_a_program_that_does_nothing_is_given_up(
    one_upload: eq.RunHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(killing, "PATIENCE", 0.1)
    with pytest.raises(EngineError, match=r"did nothing that was waited for in 0 s: it printed nothing"):
        killed(one_upload, 1, another(tmp_path, "import time; time.sleep(1000)"))
