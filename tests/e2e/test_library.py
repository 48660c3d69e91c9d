"""The library as its users have it, in a process of its own: the commands see its runs, and it sees theirs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.store import read
from equipoise.store.database import open_store
from tests.commands import PATIENCE, environment
from tests.e2e.conftest import TINY, Equipoise

pytestmark = pytest.mark.slow

SETTINGS = "{'data.limit': 200, 'model': 'mlp', 'client.epochs': 1, 'partition.clients': 4}"


def python(folder: Path, code: str) -> str:
    """What a script prints; it must end well."""
    command = [sys.executable, "-c", f"import equipoise as eq\n{code}"]
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "without a terminal nothing is said unless asked"
    return done.stdout


def numbers(folder: Path, run_id: str) -> list[tuple[object, ...]]:
    with open_store(folder / "runs" / "equipoise.db") as store:
        rows = read.rows(store, run_id)
    return [(row.step, row.client, row.name, row.value) for row in rows if row.name != "seconds"]


def test_a_script_and_a_command_train_the_same_run(equipoise: Equipoise, tmp_path: Path) -> None:
    theirs = equipoise("run", "fedavg", *TINY, "rounds=2", "seed=1", "--json").json
    code = f"""
run = eq.run("fedavg", {SETTINGS}, rounds=2, seed=1)
print(run.id)
print(eq.compare([run, eq.open_run("{theirs["run_id"]}")]).to_csv())
"""
    run_id, _, line = python(tmp_path, code).splitlines()
    assert numbers(tmp_path, run_id) == numbers(tmp_path, theirs["run_id"])
    assert line.split(",")[2] == "1", "one configuration, one seed"
    assert [run["run_id"] for run in equipoise("ls", "--json").json] == [run_id, theirs["run_id"]]
    assert equipoise("show", run_id, "--json").json["config"] == theirs["config"]


WAITS = f"""
import time
from equipoise.api.progress import Silent

class Waits(Silent):
    def tick(self, step, done, total, result):
        if (step, done) == (1, 2):
            print("waiting", flush=True)
            time.sleep(600)

import equipoise as eq
eq.run("fedavg", {SETTINGS}, rounds=3, progress=Waits())
"""


def test_a_script_that_is_interrupted_leaves_a_run_that_a_command_resumes(equipoise: Equipoise, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    (line,) = equipoise("ls", "--json").json
    assert line["status"] == "stopped"
    assert f"go on with: eq.resume('{line['run_id']}')" in err
    equipoise("resume", "latest")
    whole = equipoise("run", "fedavg", *TINY, "rounds=3", "--json").json
    assert numbers(tmp_path, line["run_id"]) == numbers(tmp_path, whole["run_id"])


def test_a_sweep_of_a_script_is_known_to_the_commands(equipoise: Equipoise, tmp_path: Path) -> None:
    code = f"""
import json
sweep = eq.sweep("fedavg", {SETTINGS}, rounds=1, method=["fedavg", "fedprox"], seeds=2, jobs=1)
print(json.dumps([run.id for run in sweep.runs]))
"""
    runs = json.loads(python(tmp_path, code))
    compared = equipoise("compare", "--sweep", "fedavg", "--json").json
    assert [run for row in compared["rows"] for run in row["runs"]] == runs
    again = equipoise("sweep", "fedavg", *TINY, "rounds=1", "method=fedavg,fedprox", "--seeds", "2", "--json").json
    assert again["runs"] == runs, "what is done is not run again"


def test_resume_with_more_rounds(equipoise: Equipoise, refused: Equipoise, tmp_path: Path) -> None:
    short = equipoise("run", "fedavg", *TINY, "rounds=1", "--json").json["run_id"]
    long = equipoise("run", "fedavg", *TINY, "rounds=3", "--json").json
    grown = equipoise("resume", short, "--rounds", "+2", "--json").json
    assert (grown["status"], grown["config"], grown["metrics"]) == ("done", long["config"], long["metrics"])
    assert set(numbers(tmp_path, long["run_id"])) <= set(numbers(tmp_path, short))
    assert "extended: from 1 to 3 rounds, after round 1" in equipoise("show", short).out
    assert "has 3 rounds already, asked for 2 in all" in refused("resume", short, "--rounds", "2").err
    assert "expected a number of rounds" in refused("resume", short, "--rounds", "more").err
    one_shot = equipoise("run", "fafi", *TINY, "checkpoints=1", "--json").json["run_id"]
    assert "there are no rounds to add" in refused("resume", one_shot, "--rounds", "+1").err
