"""What dies is noticed, and the federation goes on: a machine, the server, the driver."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from itertools import islice

import pytest

from equipoise.run.build import build, make_engine
from equipoise.run.loop import federate, first_snapshot
from equipoise.store import read
from equipoise.store.database import open_store
from tests.conftest import assert_same, nobody, numbers, records, tiny
from tests.flower.conftest import IMAGES, Town

pytestmark = pytest.mark.flower
QUIET = "evaluate.beside=never"


def stepwise(config):
    """The federation's steps one by one, and its engine."""
    federation = build(config)
    engine = make_engine(federation.site)
    return federate(federation, engine, first_snapshot(federation), 0, nobody), engine


@pytest.mark.slow
def test_a_machine_dies_the_round_ends_by_quorum_and_it_comes_back(town):
    """The next step begins before this one is scored, so the one that loses the machine may be the second from here,
    and the one that has it again too."""
    settings = ["rounds=6", QUIET, "server.deadline=20", "server.quorum=0.5"]
    steps, engine = stepwise(tiny(*IMAGES, *settings, *town.settings))
    try:
        whole = next(steps)
        assert not [event for event in whole.events if event.kind == "ended-by-quorum"]
        town.machines.kill("c")
        events = [event for record in islice(steps, 2) for event in record.events]
        early = [event for event in events if event.kind == "ended-by-quorum"]
        assert early[0].detail["machines"] == ["c"]
        late = [event.client for event in events if event.kind == "client-late" and event.step == early[0].step]
        assert late == [2, 5]
        town.machines.join("c", town.shares / "c")
        town.machines.ready("c")
        *_, last = steps
        assert not [event for event in last.events if event.kind in ("ended-by-quorum", "client-late")]
    finally:
        engine.close()
        if "c" not in town.machines.joined:
            town.machines.join("c", town.shares / "c")
            town.machines.ready("c")


@pytest.mark.slow
def test_a_machine_that_dies_without_a_deadline_gets_its_work_again(town):
    """The same bits, and an event."""
    config = tiny(*IMAGES, "rounds=3", QUIET)
    steps, engine = stepwise(tiny(*IMAGES, "rounds=3", QUIET, *town.settings))
    try:
        found = [next(steps)]
        town.machines.kill("b")
        town.machines.join("b", town.shares / "b")
        found += list(steps)
    finally:
        engine.close()
    assert numbers(found) == numbers(records(config))
    town.machines.ready("b")


def test_the_server_dies_and_the_run_goes_on(town):
    """`federation serve` starts its SuperLink again; its messages are in a database."""
    config = tiny(*IMAGES, "rounds=3", QUIET)
    steps, engine = stepwise(tiny(*IMAGES, "rounds=3", QUIET, *town.settings))
    try:
        found = [next(steps)]
        assert town.machines.server is not None
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(town.machines.server.pid)], capture_output=True, text=True, check=True
        )
        subprocess.run(["kill", "-9", *listed.stdout.split()], check=True)
        found += list(steps)
    finally:
        engine.close()
    assert numbers(found) == numbers(records(config))
    assert "server-away" in [event.kind for record in found for event in record.events]


def test_the_driver_dies_and_resume_gives_the_same_bits(town, tmp_path):
    config = [*IMAGES, "rounds=6", QUIET, "data.limit=200", "data.test_limit=60", "model=mlp", "model.hidden=16"]
    config += ["partition.alpha=0.5", "client.epochs=1"]
    store = tmp_path / "runs.db"
    command = [sys.executable, "-m", "equipoise"]
    driver = subprocess.Popen([*command, "run", "fedavg", *config, *town.settings, "--store", str(store)])
    try:
        wait_for_steps(store, 2)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    subprocess.run([*command, "resume", "latest", "--store", str(store)], check=True, capture_output=True)
    subprocess.run([*command, "run", "fedavg", *config, "--store", str(store)], check=True, capture_output=True)
    with open_store(str(store)) as opened:
        resumed, local = sorted(read.runs(opened), key=lambda run: run.config["engine"]["name"])
        rows = [
            [
                (row.step, row.client, row.name, row.value)
                for row in read.rows(opened, run.run_id)
                if row.name != "seconds"
            ]
            for run in (resumed, local)
        ]
    assert rows[0] == rows[1]


def wait_for_steps(store, n: int, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.5)
        if not store.exists():
            continue
        with open_store(str(store)) as opened:
            runs = read.runs(opened)
            if runs and len({row.step for row in read.rows(opened, runs[0].run_id)}) >= n:
                return
    raise AssertionError("the run took no step")


def test_rounded_uploads_say_by_how_much(town: Town):
    """int8 and fp16 move the numbers; zstd moves none."""
    exact = records(tiny(*IMAGES, QUIET))
    squeezed = records(tiny(*IMAGES, QUIET, "engine.compress=zstd", *town.settings))
    assert_same(squeezed[-1].snapshot.server.model, exact[-1].snapshot.server.model)
    rounded = records(tiny(*IMAGES, QUIET, "engine.compress=int8", *town.settings))
    wire = {row.name: row.value for row in rounded[0].rows if row.client == 0}
    largest = max(float(tensor.abs().max()) for tensor in exact[0].snapshot.server.model.values())
    assert 0 < wire["wire/error"] <= 4 * largest / 254
    assert 0 < wire["wire/bytes"] < {row.name: row.value for row in squeezed[0].rows if row.client == 0}["wire/bytes"]
