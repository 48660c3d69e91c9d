"""The command as its users run it, in an empty folder; see `tests/commands.py` for the two ways."""

from __future__ import annotations

import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.commands import Equipoise, Outcome, command, environment, run_here, run_process, waiting

__all__ = ["TINY", "Equipoise", "Outcome", "asked", "command", "environment", "within_a_round"]

TINY = ["data.limit=200", "model=mlp", "client.epochs=1", "partition.clients=4"]
"""Settings under which a round takes milliseconds."""


def asked(folder: Path, way: Equipoise = run_here, code: int = 0) -> Equipoise:
    """The command in that folder, with the exit code that is expected unless a call says another."""

    def call(*arguments: str, code: int = code, **variables: str) -> Outcome:
        outcome = way(folder, *arguments, **variables)
        assert outcome.code == code, outcome.err
        assert "Traceback" not in outcome.err
        return outcome

    return call


def within_a_round(
    folder: Path, *arguments: str, at_round: int, **variables: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A process of `run` that has reported that round, heard two clients of the next one, and waits to be struck."""
    code = f"""
from equipoise.api import progress

class Lines(progress.ProgressLines):
    def tick(self, step, done, total, result):
        super().tick(step, done, total, result)
        if (step, done) == ({at_round}, 2):
            wait()

progress.ProgressLines = Lines
"""
    return waiting(folder, code, *arguments, **variables)


@pytest.fixture
def equipoise(tmp_path: Path) -> Equipoise:
    """equipoise("run", "fedavg", …, code=0, VARIABLE="value") → exit code, stdout, stderr; within this process."""
    return asked(tmp_path)


@pytest.fixture
def refused(tmp_path: Path) -> Equipoise:
    """The same for requests that are wrong."""
    return asked(tmp_path, code=2)


@pytest.fixture
def process(tmp_path: Path) -> Equipoise:
    """The same in a process of its own: once per command, and for what only a process can show."""
    return asked(tmp_path, run_process)
