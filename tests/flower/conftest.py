"""A federation of three machines: a real server with TLS and keys, each machine a process with its own data folder, in
a network namespace of its own where this machine allows it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from equipoise.bench.machines import Machines
from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.engine.flower.share import dealt, write_share
from equipoise.run.build import build
from tests.conftest import tiny

collect_ignore_glob = [] if find_spec("flwr") is not None else ["test_*.py"]
"""Without the extra there is nothing to test here."""
NAMES = ("a", "b", "c")
BRIDGE, HOST = "eqp-test", "10.213.77.1"
ONE_BY_ONE = "engine.together=1"
"""Clients of two machines cannot train on one axis, so the comparison is with clients that train alone."""
IMAGES = ("partition.clients=6", ONE_BY_ONE)
USERS = ("data.users=12", ONE_BY_ONE)


@dataclass
class Town:
    """The machines of the tests, and the address on which they reach the server."""

    machines: Machines
    shares: Path
    namespaces: dict[str, str]

    @property
    def settings(self) -> list[str]:
        return [*self.machines.settings, "engine.patience=120", "engine.poll=0.05"]


def run_quietly(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def make_namespaces() -> dict[str, str]:
    """A namespace for each machine, joined by a bridge; empty where that is not allowed."""
    remove_namespaces()
    if shutil.which("ip") is None or not run_quietly("ip", "link", "add", BRIDGE, "type", "bridge"):
        return {}
    made = run_quietly("ip", "addr", "add", f"{HOST}/24", "dev", BRIDGE) and run_quietly(
        "ip", "link", "set", BRIDGE, "up"
    )
    for place, name in enumerate(NAMES):
        space, ours, theirs = f"{BRIDGE}-{name}", f"eqp{name}0", f"eqp{name}1"
        steps = [
            f"ip netns add {space}",
            f"ip link add {ours} type veth peer name {theirs} netns {space}",
            f"ip link set {ours} master {BRIDGE} up",
            f"ip -n {space} addr add 10.213.77.{place + 2}/24 dev {theirs}",
            f"ip -n {space} link set {theirs} up",
            f"ip -n {space} link set lo up",
        ]
        made = made and all(run_quietly(*step.split()) for step in steps)
    if not made:
        remove_namespaces()
        return {}
    return {name: f"{BRIDGE}-{name}" for name in NAMES}


def remove_namespaces() -> None:
    if shutil.which("ip") is not None:
        for name in NAMES:
            run_quietly("ip", "netns", "del", f"{BRIDGE}-{name}")
            run_quietly("ip", "link", "del", f"eqp{name}0")
        run_quietly("ip", "link", "del", BRIDGE)


def write_shares(folder: Path, name: str, config: Config) -> None:
    """Each machine's share, in a folder of that name."""
    site = build(config).site
    for machine, clients in dealt(site.n_clients, NAMES).items():
        write_share(site, clients, folder / machine / name)


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    write_shares(folder / "shares", "images", tiny(*IMAGES))
    write_shares(folder / "shares", "users", load("rec/feddmmr", USERS).config)
    spaces = make_namespaces()
    prefixes = {name: ["ip", "netns", "exec", space] for name, space in spaces.items()}
    machines = Machines(folder / "federation", NAMES, HOST if spaces else "127.0.0.1", prefixes)
    try:
        machines.serve()
        for name in NAMES:
            machines.join(name, folder / "shares" / name)
        for name in NAMES:
            machines.ready(name)
        yield Town(machines, folder / "shares", spaces)
    finally:
        machines.close()
        remove_namespaces()
