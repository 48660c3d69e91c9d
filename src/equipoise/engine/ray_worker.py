"""A worker of the Ray engine: an actor that holds a node, and answers one call after another.

Ray pickles the call; what we put in is JSON and codec bytes.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import platform
import sys
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from equipoise import __version__
from equipoise.core.codec import decode, encode
from equipoise.core.errors import DeviceLost, EquipoiseError
from equipoise.core.stopwatch import WATCH
from equipoise.engine.node import Node
from equipoise.engine.shared import node_in
from equipoise.engine.worker import DEVICE_LOST

Bytes = NDArray[np.uint8]


def versions() -> dict[str, str]:
    """What must be alike on all machines."""
    return {"equipoise": __version__, "torch": torch.__version__.partition("+")[0], "numpy": np.__version__}


class RayWorker:
    def __init__(self, order: bytes) -> None:
        self._order: dict[str, Any] = json.loads(order)
        self._node: Node | None = None

    def hello(self, site: bytes, memory: Bytes | None) -> bytes:
        """Open the node if the versions are those of the server's machine; {versions, pid, machine, why not}."""
        told = {"versions": versions(), "pid": os.getpid(), "machine": platform.node(), "why": ""}
        if told["versions"] == self._order["versions"]:
            told["why"] = self._opened(site, memory)
        return json.dumps(told).encode()

    def _opened(self, site: bytes, memory: Bytes | None) -> str:
        """Why the node cannot be opened; empty if it is open."""
        try:
            self._node = node_in(
                _mapped(self._order["path"]) if memory is None else memory, site, self._order["device"]
            )
        except Exception as error:
            return str(error) if isinstance(error, EquipoiseError) else f"{type(error).__name__}: {error}"
        gc.collect()
        gc.freeze()  # what was imported stays: it is not looked through again and again
        if self._order["is_profiled"]:
            WATCH.start()
        return ""

    def answer(self, cohorts: list[bytes], shared: Bytes) -> list[bytes]:
        """An answer for each cohort, and where the time went."""
        assert self._node is not None, "the server has not read the first answer"
        WATCH.lap("idle")
        state = decode(shared.tobytes())[1]
        try:
            answers = [encode(*self._node.answer(decode(tasks), state)) for tasks in cohorts]
        except DeviceLost as error:
            print(f"worker of {self._order['device']}: {error.what}", file=sys.stderr, flush=True)
            os._exit(DEVICE_LOST)
        WATCH.lap("update")
        return [*answers, json.dumps(WATCH.take()).encode()]


def _mapped(path: str) -> mmap.mmap:
    """The data in a folder that the machines share."""
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
