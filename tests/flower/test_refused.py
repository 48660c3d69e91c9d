"""Who is turned away: strange keys, wrong certificates, other versions, other data; and what nobody can reach."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from equipoise.core.errors import ConfigError, EngineError
from equipoise.engine.flower import authority
from equipoise.engine.flower.authority import make_federation
from equipoise.engine.flower.link import Link, Reply
from equipoise.engine.flower.machine import versions
from equipoise.engine.flower.parcel import Parcel
from equipoise.engine.flower.serve import FederationServer
from equipoise.engine.flower.status import who_is_there
from equipoise.run.build import build, make_engine
from tests.conftest import tiny
from tests.flower.conftest import HOST, IMAGES, Town

pytestmark = pytest.mark.flower


def wait_for(text: str, town: Town, name: str, seconds: float = 180) -> str:
    until = time.monotonic() + seconds
    while text not in town.machines.said(name):
        assert time.monotonic() < until, town.machines.said(name)
        time.sleep(0.2)
    return town.machines.said(name)


def link_of(town: Town) -> Link:
    return Link(tiny(*IMAGES, *town.settings).engine)  # type: ignore[arg-type]


def replies(link: Link, sent: dict[str, int], seconds: float = 60) -> list[Reply]:
    found: list[Reply] = []
    until = time.monotonic() + seconds
    while len(found) < len(sent) and time.monotonic() < until:
        found += link.collect(sent)
        time.sleep(0.1)
    return found


def test_a_key_that_is_not_registered_and_a_wrong_certificate_are_turned_away(town, tmp_path):
    strangers = tmp_path / "strangers"
    make_federation(strangers, ["d"])
    machines = town.machines
    machines.join("stranger", town.shares / "a", key=strangers / "keys" / "d")
    machines.join("misled", town.shares / "a", "--certificate", str(strangers / "ca.crt"), key=strangers / "keys" / "d")
    try:
        assert "does not know this key" in wait_for("not connected", town, "stranger")
        assert "certificate" in wait_for("not connected", town, "misled")
        names = [machine.name for machine in who_is_there(machines.folder, _driver(town), 20)]
        assert names == ["a", "b", "c"]
    finally:
        machines.kill("stranger")
        machines.kill("misled")


def test_another_version_is_refused_over_the_wire(town):
    link = link_of(town)
    try:
        asked = Parcel({"do": "who", "versions": versions() | {"torch": "1.0"}})
        (reply,) = replies(link, link.post({min(link.machines()): asked}))
    finally:
        link.close()
    assert reply.parcel is not None
    assert reply.parcel.header["kind"] == "version-mismatch"
    assert "torch 1.0 there" in reply.parcel.header["refused"]


STEAL = """
import json, sys, time
from equipoise.config.loader import load
from equipoise.engine.flower.link import Link

settings, sent = json.loads(sys.argv[1])
link, found = Link(load("fedavg", settings).config.engine), []
until = time.monotonic() + 5
try:
    while time.monotonic() < until:
        found += [reply for reply in link.collect(sent) if reply.parcel is not None]
        time.sleep(0.2)
except Exception as error:
    print(type(error).__name__, file=sys.stderr)
link.close()
print(len(found))
"""
"""Another driver, with the same secret, asks for the answers to the first one's messages."""


def test_a_second_driver_gets_nothing_of_the_first_one_s_run(town):
    first = link_of(town)
    try:
        sent = first.post(dict.fromkeys(first.machines(), Parcel({"do": "who", "versions": versions()})))
        command = [sys.executable, "-c", STEAL, json.dumps([town.settings, sent])]
        stolen = subprocess.run(command, capture_output=True, text=True, check=True)
        assert stolen.stdout.strip() == "0"
        assert len([reply for reply in replies(first, sent) if reply.parcel is not None]) == len(sent)
    finally:
        first.close()


def test_only_the_fleet_s_routes_are_reachable_from_outside(town):
    machines = town.machines
    context = ssl.create_default_context(cafile=str(machines.folder / "ca.crt"))
    with httpx.Client(verify=context, trust_env=False) as client:
        for path in ("/v1/control/list-nodes", "/v1/control/start-run", "/v1/runtime/acquire-task", "/"):
            assert client.post(f"https://{machines.host}:{machines.port}{path}").status_code == 404, path
        assert client.post(f"https://{machines.host}:{machines.port}/v1/fleet/pull-messages").status_code != 404


def test_the_driver_s_port_is_not_reachable_from_a_machine(town):
    if not town.namespaces:
        pytest.skip("network namespaces are not allowed here")
    code = f"import socket; print(socket.socket().connect_ex(({HOST!r}, {town.machines.driver_port})))"
    command = ["ip", "netns", "exec", town.namespaces["a"], sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(found.stdout) != 0
    with socket.socket() as here:
        assert here.connect_ex(("127.0.0.1", town.machines.driver_port)) == 0


def test_other_data_is_refused_with_a_word(town):
    """Another seed draws another split: no machine holds it."""
    with pytest.raises(EngineError, match=r"another set, split or seed|none of its 2 shares"):
        make_engine(build(tiny(*IMAGES, "seed=5", *town.settings)).site)


def test_nobody_answers_at_a_wrong_address(town, tmp_path):
    wrong = ["engine.address=127.0.0.1:9", "engine.patience=1"]
    with pytest.raises(ConfigError, match="nobody answers"):
        make_engine(build(tiny(*IMAGES, *town.settings, *wrong)).site)
    make_federation(tmp_path / "other", ["a"])
    other = [f"engine.certificate={tmp_path / 'other' / 'ca.crt'}", "engine.patience=5"]
    with pytest.raises(ConfigError, match="certificate"):
        make_engine(build(tiny(*IMAGES, *town.settings, *other)).site)


def test_an_expired_certificate_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(authority, "DAYS", 0)
    make_federation(tmp_path, ["a"])
    time.sleep(1.1)
    with pytest.raises(ConfigError, match="expired"):
        FederationServer(tmp_path)


def test_a_certificate_that_is_not_there_is_named(town):
    with pytest.raises(ConfigError, match="cannot be read"):
        make_engine(build(tiny(*IMAGES, *town.settings, "engine.certificate=nowhere/ca.crt")).site)


def test_status_says_who_is_there_and_with_what(town):
    found = {machine.name: machine for machine in who_is_there(town.machines.folder, _driver(town), 30)}
    assert {machine.status for machine in found.values()} == {"online"}
    assert all("2 shares; equipoise" in machine.says for machine in found.values())


def _driver(town: Town) -> str:
    return f"127.0.0.1:{town.machines.driver_port}"


def test_a_key_that_cannot_be_read_ends_join_with_exit_2(tmp_path: Path):
    make_federation(tmp_path, ["a"])
    given = ["--server", "127.0.0.1:9", "--certificate", str(tmp_path / "ca.crt"), "--key", str(tmp_path / "nokey")]
    found = subprocess.run(
        [sys.executable, "-m", "equipoise", "join", *given], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert "nokey cannot be read" in found.stderr
