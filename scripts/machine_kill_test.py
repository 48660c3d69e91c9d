"""Kill a machine, the server or the driver of a federation at random instants; compare every number to the last bit.

    python scripts/machine_kill_test.py --times 20 --what machine server driver

Three machines with their own shares, over TLS with keys, as processes on this computer. A machine that was killed is
started again at once; a driver that was killed is resumed; the server starts its SuperLink again by itself.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from equipoise.bench.machines import Machines, children_of
from equipoise.config.loader import load
from equipoise.engine.flower.share import dealt, write_share
from equipoise.run.build import build
from equipoise.store import read
from equipoise.store.database import open_store

NAMES = ("a", "b", "c")
RUN = ["data.limit=200", "partition.clients=6", "rounds=4", "engine.together=1", "model=mlp", "evaluate.beside=never"]
COMMAND = [sys.executable, "-m", "equipoise"]
Rows = list[tuple[int, int | None, str, float]]


def recorded(store: Path) -> tuple[Rows, list[str]]:
    """Every number of the one run in the store but clock readings, and the kinds of its events."""
    with open_store(str(store)) as opened:
        (run,) = read.runs(opened)
        assert run.status == "done", run.status
        rows = [(row.step, row.client, row.name, row.value) for row in read.rows(opened, run.run_id)]
        events = [each.event.kind for each in read.events(opened, run.run_id)]
        return [row for row in rows if row[2] != "seconds"], events


def start(store: Path, settings: list[str]) -> subprocess.Popen[bytes]:
    command = [*COMMAND, "run", "fedavg", *RUN, *settings, "--store", str(store)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finished(process: subprocess.Popen[bytes]) -> None:
    _, error = process.communicate(timeout=600)
    if process.returncode != 0:
        raise SystemExit(f"a run ended with {process.returncode}:\n{error.decode()}")


def kill(what: str, machines: Machines, driver: subprocess.Popen[bytes], draw: random.Random, shares: Path) -> str:
    """Kill it; returns who it was. A machine is started again."""
    if what == "driver":
        driver.kill()
        driver.wait()
        return "the driver"
    if what == "server":
        assert machines.server is not None
        for pid in children_of(machines.server.pid):
            os.kill(pid, signal.SIGKILL)
        return "the SuperLink"
    name = draw.choice(NAMES)
    machines.kill(name)
    machines.join(name, shares / name)
    return f"machine {name}"


class Town:
    """Three machines, and what a run on one computer gives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        site = build(load("fedavg", RUN).config).site
        for name, clients in dealt(site.n_clients, NAMES).items():
            write_share(site, clients, folder / "shares" / name)
        finished(start(folder / "local.db", []))
        self.expected, _ = recorded(folder / "local.db")
        self.machines = Machines(folder / "federation", NAMES)

    def open(self) -> None:
        self.machines.serve()
        for name in NAMES:
            self.machines.join(name, self.folder / "shares" / name)
        for name in NAMES:
            self.machines.ready(name)

    def whole(self) -> float:
        """Seconds of a run that nothing happens to."""
        began = time.monotonic()
        finished(start(self.folder / "whole.db", self.machines.settings))
        assert recorded(self.folder / "whole.db")[0] == self.expected
        return time.monotonic() - began

    def trial(self, what: str, number: int, delay: float, draw: random.Random) -> bool:
        """Kill something `delay` seconds into a run; whether the run's numbers are equal in the end."""
        store, began = self.folder / f"{what}-{number}.db", time.monotonic()
        driver = start(store, self.machines.settings)
        time.sleep(delay)
        who = kill(what, self.machines, driver, draw, self.folder / "shares")
        finished(again(store, self.machines.settings) if what == "driver" else driver)
        rows, events = recorded(store)
        seen = ", ".join(sorted({kind for kind in events if re.search("lost|late|away|quorum", kind)})) or "no event"
        how, took = "equal" if rows == self.expected else "DIFFERENT", time.monotonic() - began
        print(f"{number + 1:3}. {who} killed at {delay:.1f} s: {how}, {took:.0f} s in all; {seen}", flush=True)
        return rows == self.expected


def again(store: Path, settings: list[str]) -> subprocess.Popen[bytes]:
    """Resume the run, or start it if it was killed before it was recorded."""
    with open_store(str(store)) as opened:
        if not read.runs(opened):
            return start(store, settings)
    command = [*COMMAND, "resume", "latest", "--store", str(store)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="kills of each kind")
    parser.add_argument("--what", nargs="+", default=["machine", "server", "driver"])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    draw, equal = random.Random(given.seed), 0
    with tempfile.TemporaryDirectory() as place:
        town = Town(Path(place))
        try:
            town.open()
            lifetime = town.whole()
            print(f"uninterrupted: {len(town.expected)} numbers, equal, in {lifetime:.0f} s", flush=True)
            for what in given.what:
                for number in range(given.times):
                    equal += town.trial(what, number, draw.uniform(0.3, 1.0) * lifetime, draw)
        finally:
            town.machines.close()
    n = given.times * len(given.what)
    print(f"{equal} of {n} runs are equal to the last bit")
    sys.exit(0 if equal == n else 1)


if __name__ == "__main__":
    main()
