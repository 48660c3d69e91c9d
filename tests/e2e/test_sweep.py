"""A grid × seeds: every cell once, and tables over seeds."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.commands import PATIENCE
from tests.e2e.conftest import TINY, Equipoise, command, environment

SWEEP = """
preset: fedavg
seeds: 2
base: {data.limit: 200, model: mlp, client.epochs: 1, rounds: 2}
cells:
  FedAvg: {method: fedavg}
  FedProx: {method: fedprox, method.mu: 0.1}
grid:
  partition.alpha: [0.05, 1.0]
"""


def test_a_sweep_runs_every_cell_once(equipoise: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "grid.yaml").write_text(SWEEP)
    first = equipoise("sweep", "grid.yaml", "-j", "2", "--json")
    table = first.json
    assert len(table["runs"]) == 8
    assert len(set(table["runs"])) == 8
    assert table["failed"] == []
    labels = [row["label"] for row in table["rows"]]
    assert labels[0] == "FedAvg partition.alpha=0.05"
    assert len(labels) == 4
    assert all(row["seeds"] == [0, 1] for row in table["rows"])
    low, mean, high = (table["rows"][1]["difference"][key] for key in ("low", "mean", "high"))
    assert low <= mean <= high
    assert first.err.count("done") == 8

    second = equipoise("sweep", "grid.yaml", "--json")
    assert second.json["runs"] == table["runs"], "finished cells are not run again"
    assert second.err.count("already done") == 8
    rows = equipoise("compare", "--sweep", "grid.yaml", "--json").json["rows"]
    assert rows == second.json["rows"], "the sweep's own table, in its order"
    assert len(equipoise("ls", "--sweep", "grid.yaml", "--json").json) == 8
    latex = equipoise("compare", "--sweep", "grid.yaml", "--format", "latex").out
    assert latex.count(r"\\") == 5, "a head and four rows"


def test_axes_and_seeds_on_the_command(equipoise: Equipoise) -> None:
    table = equipoise("sweep", "fedavg", *TINY, "rounds=1", "alpha=0.1,10", "--seeds", "3,5", "--json").json
    assert [row["label"] for row in table["rows"]] == ["partition.alpha=0.1", "partition.alpha=10"]
    assert table["rows"][0]["seeds"] == [3, 5]


def test_a_failing_cell_does_not_stop_the_others(equipoise: Equipoise) -> None:
    outcome = equipoise("sweep", "fedavg", *TINY, "rounds=2", "lr=1e30,0.05", "--seeds", "1", "--json", code=1)
    assert [row["label"] for row in outcome.json["rows"]] == ["client.lr=0.05"]
    (failed,) = outcome.json["failed"]
    assert failed["cell"].startswith("client.lr=")
    assert "no client gave an update" in failed["error"]


@pytest.mark.slow
def test_a_stopped_sweep_goes_on(equipoise: Equipoise, tmp_path: Path) -> None:
    arguments = ("sweep", "fedavg", *TINY, "rounds=300", "--seeds", "2", "-j", "1", "--json")
    process = subprocess.Popen(
        command(*arguments),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not [line for line in equipoise("ls", "--json").json if line["steps"]["done"] > 3]:
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "the same command goes on from here" in err
    (stopped,) = equipoise("ls", "--json").json
    assert stopped["status"] == "stopped"
    table = equipoise(*arguments).json
    assert stopped["run_id"] in table["runs"], "the stopped cell went on instead of starting again"
