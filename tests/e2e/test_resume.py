"""A run killed or stopped at any instant goes on to the same numbers."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from equipoise.config.loader import Request, load
from equipoise.core.values import Row
from equipoise.run.session import start
from equipoise.store import blobs, read
from equipoise.store.database import open_store
from tests.commands import PATIENCE
from tests.e2e.conftest import TINY, Equipoise, asked, within_a_round
from tests.unit.run.conftest import Breaks

ROUNDS = 8
RUN = ("run", "fedprox", *TINY, "engine.threads=1")
WORKERS = {"local": (), "processes": ("engine.workers=1",)}


def numbers(store: str | Path) -> list[Row]:
    """Every number of the newest run but clock readings."""
    with open_store(store) as opened:
        run = read.runs(opened)[0]
        assert run.status == "done"
        return [row for row in read.rows(opened, run.run_id) if row.name != "seconds"]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    folder = tmp_path_factory.mktemp("whole")
    asked(folder)(*RUN, f"rounds={ROUNDS}")
    return numbers(folder / "runs" / "equipoise.db")


def begun(
    folder: Path, *extra: str, at_round: int, run: tuple[str, ...] = RUN, **variables: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    return within_a_round(folder, *run, *extra, f"rounds={ROUNDS}", at_round=at_round, **variables)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


def wait_until_gone(processes: list[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{process}/cmdline").exists() for process in processes):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("at_round", "engine"), [(1, "local"), pytest.param(5, "local", marks=pytest.mark.slow), (3, "processes")]
)
def test_killed_runs_resume_to_the_last_bit(
    at_round: int, engine: str, equipoise: Equipoise, tmp_path: Path, expected: list[Row]
) -> None:
    """While it runs nobody else resumes it; killed, it leaves no worker behind."""
    with begun(tmp_path, f"engine={engine}", *WORKERS[engine], at_round=at_round) as process:
        refused = equipoise("resume", "latest", code=1)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
    assert "is being worked on by another process" in refused.err
    assert len(children) == len(WORKERS[engine])
    wait_until_gone(children)
    (listed,) = equipoise("ls", "--json").json
    assert listed["status"] == "killed"
    resumed = equipoise("resume", "latest", "--json")
    assert resumed.json["status"] == "done"
    assert f"from round {listed['steps']['done'] + 1}" in resumed.err
    assert numbers(tmp_path / "runs" / "equipoise.db") == expected


def test_a_killed_recommender_goes_on_with_its_memories(equipoise: Equipoise, tmp_path: Path) -> None:
    few = ("data.users=40", "data.items=150", "server.fraction=0.2", "evaluate.every=2", "method.common=4")
    run = ("run", "rec/feddmmr", *few)
    with begun(tmp_path, at_round=4, run=run) as process:
        process.kill()
    assert equipoise("resume", "latest", "--json").json["status"] == "done"
    resumed = numbers(tmp_path / "runs" / "equipoise.db")
    equipoise(*run, f"rounds={ROUNDS}", "--store", "whole.db")
    assert resumed == numbers(tmp_path / "whole.db")
    assert {"memory/effect", "hr@10/full"} <= {row.name for row in resumed}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_cleanly(number: signal.Signals, equipoise: Equipoise, tmp_path: Path, expected: list[Row]) -> None:
    with begun(tmp_path, at_round=2) as process:
        os.kill(process.pid, number)
        code, err = ended(process)
    assert code == 130
    assert "Traceback" not in err
    (listed,) = equipoise("ls", "--json").json
    assert listed["status"] == "stopped"
    assert f"equipoise resume {listed['run_id']}" in err
    equipoise("resume", listed["run_id"])
    assert numbers(tmp_path / "runs" / "equipoise.db") == expected


def test_a_corrupt_checkpoint_falls_back_and_says_so(equipoise: Equipoise, tmp_path: Path, expected: list[Row]) -> None:
    store = tmp_path / "runs" / "equipoise.db"
    config = load("fedprox", [*RUN[2:], f"rounds={ROUNDS}"]).config
    with open_store(store) as opened:
        with pytest.raises(KeyboardInterrupt):
            start(opened, Request(config, None), Breaks(KeyboardInterrupt(), 4))
        run = read.runs(opened)[0]
        newest = read.checkpoints(opened, run.run_id)[0]
        path = blobs.blob_path(opened, newest.manifest["server"])
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    resumed = equipoise("resume", "latest")
    assert f"checkpoint {newest.step + 1} cannot be used" in resumed.err
    assert numbers(store) == expected
    events = equipoise("show", "latest", "--json").json["events"]
    assert "checkpoint-damaged" in {event["kind"] for event in events}


def test_a_finished_run_has_nothing_left_to_resume(equipoise: Equipoise) -> None:
    equipoise("run", "fedavg", *TINY, "rounds=1")
    assert equipoise("resume", "latest", "--json").json["status"] == "done"


def test_postgresql_keeps_a_killed_run(equipoise: Equipoise, tmp_path: Path, expected: list[Row]) -> None:
    server = os.environ.get("EQUIPOISE_TEST_POSTGRES")
    if not server:
        pytest.skip("EQUIPOISE_TEST_POSTGRES is not set: no PostgreSQL server")
    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url

    url = make_url(server).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS e2e_resume"))
        connection.execute(text("CREATE DATABASE e2e_resume"))
    admin.dispose()
    location = url.set(database="e2e_resume", drivername="postgresql").render_as_string(hide_password=False)
    variables = {"EQUIPOISE_STORE": location, "EQUIPOISE_BLOBS": str(tmp_path / "blobs")}
    with begun(tmp_path, at_round=3, **variables) as process:
        process.kill()
    equipoise("resume", "latest", **variables)
    os.environ["EQUIPOISE_BLOBS"] = str(tmp_path / "blobs")
    try:
        assert numbers(location) == expected
    finally:
        del os.environ["EQUIPOISE_BLOBS"]
