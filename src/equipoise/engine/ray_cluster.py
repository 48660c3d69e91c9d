"""Joins a Ray cluster, or starts one of this machine alone; and leaves it again.

    address    none: a cluster that ends with this process    auto: the one this machine is part of    [ray://]HOST:PORT

What others started is never stopped. An address is tried before Ray is asked, which would wait for minutes.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from equipoise.core.errors import ConfigError, EngineError, MissingExtra
from equipoise.core.machine import cores
from equipoise.engine.settings import RayOptions

PATIENCE = 5.0
"""Seconds that an address has to answer."""
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""How HTTP/2 begins, which Ray speaks: the other side answers with its settings, a frame of type 4."""
ROOM = 2**29
"""Bytes in the object store of this machine's own cluster, beside the data."""
WHERE, START = "engine.address", "start one with `ray start --head --port 6379`, and give engine.address=HOST:6379"


class Machine(NamedTuple):
    key: str
    host: str
    address: str
    port: int
    """Where its part of Ray listens."""
    places: int
    """How many workers it has processors, or accelerators, for."""

    @property
    def name(self) -> str:
        return f"{self.host} ({self.address})"

    def is_there(self) -> bool:
        """Whether anything listens there: Ray itself notices a machine's death after a quarter of a minute."""
        try:
            socket.create_connection((self.address, self.port), PATIENCE).close()
        except OSError:
            return False
        return True


def require(options: RayOptions) -> None:
    """Refuse an engine that is not installed, or an address that nothing answers at."""
    if find_spec("ray") is None:
        raise MissingExtra("engine 'ray' is not installed", where="engine", fix="pip install 'equipoise[ray]'")
    if options.address not in (None, "auto"):
        _require_answer(str(options.address))


def _require_answer(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host, int(port)), PATIENCE) as connection:
            connection.settimeout(PATIENCE)
            if "RAY_USE_TLS" not in os.environ:
                connection.sendall(PREFACE)
                if connection.recv(9)[3:4] != b"\x04":
                    raise ConfigError(f"what answers at {address} is no Ray cluster", where=WHERE, fix=START)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"no Ray cluster answers at {address}: {error}", where=WHERE, fix=START) from error


def joined(options: RayOptions, n_bytes: int = 0) -> bool:
    """Join the cluster; whether it was joined here, and is to be left. `n_bytes` is the data that it will hold."""
    require(options)
    import ray

    if ray.is_initialized():
        return False
    _silence()
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    try:
        with _undisturbed():
            ray.init(
                address=options.address or "local", **quiet, **({} if options.address else _alone(options, n_bytes))
            )
    except (ConnectionError, RuntimeError, ValueError) as error:
        what = f"the Ray cluster at '{options.address or 'this machine'}' cannot be joined: {_first_line(error)}"
        raise ConfigError(what, where=WHERE, fix=START) from error
    return True


def _silence() -> None:
    """Ray prints what befalls its workers on stdout, where `--json` prints a document; our events say it."""
    worker: Any = import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *said, **more: None


def _alone(options: RayOptions, n_bytes: int) -> dict[str, Any]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    processors = max(cores(), (options.workers or 1) * options.threads)
    return {"num_cpus": processors, "include_dashboard": False, "object_store_memory": ROOM + 2 * n_bytes}


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ray would turn SIGTERM into an exit of its own, and draws its ports from the global generator."""
    is_main = threading.current_thread() is threading.main_thread()
    before, drawn = signal.getsignal(signal.SIGTERM), random.getstate()
    try:
        yield
    finally:
        random.setstate(drawn)
        if is_main:
            signal.signal(signal.SIGTERM, before)


def leave() -> None:
    import ray

    with _undisturbed():
        ray.shutdown()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def machines(options: RayOptions) -> dict[str, Machine]:
    """The machines of the cluster that are there now."""
    import ray

    try:
        nodes = ray.nodes()
    except (ConnectionError, ray.exceptions.RayError) as error:
        raise gone(error) from error
    alive = [node for node in nodes if node["Alive"]]
    return {node["NodeID"]: _machine(node, options) for node in alive}


def gone(error: BaseException) -> EngineError:
    what = f"the Ray cluster does not answer any more: {_first_line(error)}"
    return EngineError(what, where=WHERE, fix="look at its head, then resume the run; `--engine` names another engine")


def _machine(node: Mapping[str, Any], options: RayOptions) -> Machine:
    at = (node["NodeID"], node["NodeManagerHostname"], node["NodeManagerAddress"], node["NodeManagerPort"])
    return Machine(*at, places(node["Resources"], options))


def places(resources: Mapping[str, float], options: RayOptions) -> int:
    """
    >>> places({"CPU": 8.0, "GPU": 2.0}, RayOptions(threads=2))
    4
    >>> places({"CPU": 8.0, "GPU": 2.0}, RayOptions(gpus_per_worker=0.5, threads=1))
    4
    """
    by_cores = int(resources.get("CPU", 0) // options.threads)
    each = gpus(options)
    return min(by_cores, int(resources.get("GPU", 0) / each + 1e-9)) if each else by_cores


def gpus(options: RayOptions) -> float:
    """GPUs of each worker."""
    if options.gpus_per_worker is not None:
        return options.gpus_per_worker
    return 1.0 if options.device.startswith("cuda") else 0.0


def worker_device(options: RayOptions) -> str:
    """A worker sees only the GPUs that Ray gives it: the first of them is its own."""
    return "cuda:0" if gpus(options) else options.device
