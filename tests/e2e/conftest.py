"""The command as its users run it: a process of its own, in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from equipoise.cli import main

TINY = ["data.limit=200", "model=mlp", "client.epochs=1", "partition.clients=4"]
"""Settings under which a round takes milliseconds."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EQUIPOISE_")}
    return {**kept, "OMP_NUM_THREADS": "1", "COLUMNS": "120", **extra}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "equipoise", *arguments]


Equipoise = Callable[..., Outcome]


@pytest.fixture
def equipoise(tmp_path: Path) -> Equipoise:
    """equipoise("run", "fedavg", …, variable="value") → exit code, stdout, stderr."""

    def call(*arguments: str, code: int = 0, **variables: str) -> Outcome:
        done = subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            env=environment(**variables),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Equipoise:
    """The same within this process, which has imported everything already: for requests that end at once."""

    def call(*arguments: str, code: int = 2, **variables: str) -> Outcome:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["equipoise", *arguments])
        for key in [key for key in os.environ if key.startswith("EQUIPOISE_")]:
            monkeypatch.delenv(key)
        for key, value in environment(**variables).items():
            monkeypatch.setenv(key, value)
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert end.value.code == code, err
        assert "Traceback" not in err
        return Outcome(code, out, err)

    return call
