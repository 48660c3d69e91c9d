from __future__ import annotations

from types import SimpleNamespace

import pytest

from equipoise.api.sweep_progress import SweepProgress
from equipoise.run.places import Place


def place(state: str, **about: object) -> Place:
    cell = SimpleNamespace(label="method=fedavg", config=SimpleNamespace(seed=3))
    return Place(cell, state, **about)  # type: ignore[arg-type]


def test_every_finished_cell_is_one_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    with SweepProgress() as follow:
        follow([place("running"), place("waiting")])
        follow([place("done", run_id="fedavg-1", value=0.5), place("running")])
        follow([place("done", run_id="fedavg-1", value=0.5), place("failed", error="it broke")])
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("1/2  method=fedavg  seed 3  done  fedavg-1  50.00 %")
    assert second.startswith("2/2  method=fedavg  seed 3  failed")
    assert second.endswith("it broke")
