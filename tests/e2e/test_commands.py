"""`tests/commands.py` leaves nothing behind, and does not take for a command what needs a shell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import content, run_here, run_lines, written_to


def surroundings() -> tuple[object, ...]:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    return dict(os.environ), Path.cwd(), list(sys.argv), sys.modules["__main__"], sys.stdout, sys.stderr, handlers


def test_everything_is_afterwards_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUIPOISE_STORE", "elsewhere.db")
    before = surroundings()
    small = ("data.limit=100", "model=mlp", "client.epochs=1", "rounds=1")
    assert run_here(tmp_path, "run", "fedavg", *small, COLUMNS="100").code == 0
    assert run_here(tmp_path, "run", "fedavgg").code == 2
    assert surroundings() == before
    assert (tmp_path / "runs" / "equipoise.db").exists(), "none of our variables reach the command unless given"


def test_what_a_child_process_prints_is_caught(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+") as file:
        with written_to(2, file):
            print("ours", file=sys.stderr, flush=True)
            subprocess.run([sys.executable, "-S", "-c", "import sys; print('theirs', file=sys.stderr)"], check=True)
        assert content(file) == "ours\ntheirs\n"


def test_lines_of_a_documentation(tmp_path: Path) -> None:
    text = "equipoise --version  # which one\nequipoise presets fedavg > own.yaml\n"
    assert run_lines(tmp_path, text).startswith("equipoise ")
    assert "method: fedavg" in (tmp_path / "own.yaml").read_text()


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "equipoise ls | head",
        "equipoise ls && equipoise ls",
        "equipoise ls; ls",
        "equipoise show $RUN",
        "equipoise show `cat run`",
        "equipoise diagnose *.csv",
        "equipoise presets fedavg >> own.yaml",
        "equipoise run fedavgg",
    ],
)
def test_lines_that_need_a_shell_or_fail_are_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"not ours to run|needs a shell|did you mean"):
        run_lines(tmp_path, line)
