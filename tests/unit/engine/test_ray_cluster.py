from __future__ import annotations

import socket
import threading

import pytest

from equipoise.config.loader import load
from equipoise.core.errors import ConfigError, MissingExtra
from equipoise.engine import ray_cluster
from equipoise.engine.ray_cluster import Machine, gpus, places, require, worker_device
from equipoise.engine.settings import RayOptions


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: name)


def answering(reply: bytes) -> str:
    """The address of something that says one thing to its first caller."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with server, server.accept()[0] as caller:
            caller.recv(100)
            caller.sendall(reply)

    threading.Thread(target=answer, daemon=True).start()
    return f"127.0.0.1:{server.getsockname()[1]}"


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="engine 'ray' is not installed") as caught:
        require(RayOptions())
    assert (caught.value.fix, caught.value.exit_code) == ("pip install 'equipoise[ray]'", 2)


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_nobody_answers_at_is_refused_at_once(scheme, installed):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(ConfigError, match=f"no Ray cluster answers at {address}") as caught:
        require(RayOptions(address=address))
    assert "ray start --head" in caught.value.fix


def test_something_else_that_answers_is_no_cluster(installed):
    address = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(ConfigError, match=f"what answers at {address} is no Ray cluster"):
        require(RayOptions(address=address))
    require(RayOptions(address=answering(bytes(3) + b"\x04" + bytes(5))))
    require(RayOptions(address="auto"))
    require(RayOptions())


@pytest.mark.parametrize("address", ["somewhere", "http://head:6379", "head:", "ray://", "a b:1"])
def test_an_address_that_is_none(address):
    with pytest.raises(ConfigError, match=r"engine\.address"):
        load("fedavg", ["engine=ray", f"engine.address={address}"])


def test_a_port_that_is_none(installed):
    with pytest.raises(ConfigError, match="no Ray cluster answers at"):
        require(RayOptions(address="127.0.0.1:99999"))


def test_how_many_workers_a_machine_has_room_for():
    assert places({"CPU": 8.0}, RayOptions(threads=3)) == 2
    assert places({"CPU": 0.0}, RayOptions()) == 0
    assert places({}, RayOptions()) == 0
    assert places({"CPU": 8.0, "GPU": 2.0}, RayOptions(gpus_per_worker=0.25)) == 8
    assert places({"CPU": 8.0, "GPU": 1.0}, RayOptions(gpus_per_worker=0.1)) == 8
    assert places({"CPU": 64.0}, RayOptions(gpus_per_worker=1)) == 0


def test_the_device_of_a_worker():
    assert (gpus(RayOptions()), worker_device(RayOptions(device="cpu"))) == (0.0, "cpu")
    assert (gpus(RayOptions(device="cuda")), worker_device(RayOptions(device="cuda:3"))) == (1.0, "cuda:0")
    assert worker_device(RayOptions(device="cpu", gpus_per_worker=0.5)) == "cuda:0"


def test_a_machine_is_there_while_something_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        machine = Machine("k", "host", "127.0.0.1", server.getsockname()[1], 1)
        assert machine.is_there()
        assert machine.name == "host (127.0.0.1)"
    assert not machine.is_there()
