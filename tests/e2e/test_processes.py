"""Every command once as its users run it, in a process of its own; the other tests run it within theirs.

What only reads answers the same either way, to the last character, so what the other tests see is what users see.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.cli import app
from equipoise.config.loader import Request, load
from equipoise.run.session import start
from equipoise.store.database import open_store
from tests.commands import PATIENCE, Equipoise, environment, run_here, run_process
from tests.e2e.conftest import TINY, asked
from tests.unit.run.conftest import Breaks

ONE_SHOT = ["fafi", "data.limit=100", "model=mlp", "client.epochs=1", "checkpoints=1"]
READ = {
    ("ls",): 0,
    ("show", "fafi"): 0,
    ("compare", "fafi", "--format", "md"): 0,
    ("diagnose", "fafi"): 0,
    ("report", "fafi", "-o", "report.md"): 0,
    ("export", "fafi", "--to", "parquet", "-o", "out"): 0,
    ("partition", "fedavg", "partition.clients=3"): 0,
    ("data", "list"): 0,
    ("presets",): 0,
    ("methods",): 0,
    ("balances",): 0,
    ("rules", "--json"): 0,
    ("rm", "fafi", "--dry-run"): 0,
    ("gc", "--dry-run"): 0,
    ("bench", "--list"): 0,
    ("features", "images", "nowhere", "--encoder", "encoder.pt2", "-o", "out.npz"): 2,
    ("demo", "--store", "out-of.reach/runs.db"): 1,
    ("run", "fedavg", "rounds=0", "alhpa=1"): 2,
    ("resume", "--rounds"): 2,
}
WORK = {"run", "sweep", "resume", "fuse", "new", "join", "federation", "doctor", "serve", "import"}
"""Each has a process of its own below; `new` in `test_plugins`; `doctor`, `serve` and `import` in tests of their name,
and in the shell blocks of their pages."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a one-shot run that is done, and one that was stopped after its first round."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "out-of.reach").write_text("a file")
    asked(folder)("run", *ONE_SHOT)
    with open_store(folder / "runs" / "equipoise.db") as store, pytest.raises(KeyboardInterrupt):
        start(store, Request(load("fedavg", [*TINY, "rounds=2"]).config, None), Breaks(KeyboardInterrupt(), 0))
    return folder


@pytest.fixture
def process(stored: Path, tmp_path: Path) -> Equipoise:
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    return asked(tmp_path, run_process)


def test_each_command_has_its_turn() -> None:
    names = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    assert {arguments[0] for arguments in READ} | WORK == names


@pytest.mark.parametrize("arguments", READ, ids=" ".join)
def test_what_a_process_answers_is_what_is_answered_here(arguments: tuple[str, ...], stored: Path) -> None:
    here = run_here(stored, *arguments)
    assert (here.code, "Traceback" in here.err) == (READ[arguments], False), here.err
    assert run_process(stored, *arguments) == here


def test_run_as_its_script_where_a_file_of_the_users_does_not_reach_the_workers(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('imported from the current folder')")
    script = str(Path(sys.executable).parent / "equipoise")
    workers = ("engine=processes", "engine.workers=1")
    done = subprocess.run(
        [script, "run", "fedavg", *TINY, "rounds=1", *workers, "--json"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "done"
    assert done.stderr.count("round 1/1") == 1


def test_resume(process: Equipoise) -> None:
    done = process("resume", "latest", "--json")
    assert done.json["status"] == "done"
    assert "from round 2" in done.err


def test_sweep(process: Equipoise) -> None:
    """With a process of its own for the cells."""
    done = process("sweep", "fedavg", *TINY, "rounds=1", "--seeds", "2", "-j", "1", "--json")
    assert done.json["failed"] == []
    assert len(set(done.json["runs"])) == 2


def test_fuse(process: Equipoise) -> None:
    (server,) = process("fuse", "fafi", "--predict", "energy-gate", "--json").json["servers"]
    assert server["predict"] == "energy-gate"
