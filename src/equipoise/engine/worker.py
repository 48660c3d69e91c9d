"""A worker process: receives the site once, then works on one cohort after another until its parent is gone."""

from __future__ import annotations

import gc
import json
import os
import sys

from equipoise.core.codec import Message
from equipoise.core.device import device_of
from equipoise.core.errors import DeviceLost, EngineError, EquipoiseError
from equipoise.core.pulse import PULSE
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import State
from equipoise.engine.messages import error_message
from equipoise.engine.node import Node
from equipoise.engine.shared import open_node
from equipoise.engine.slab import Slab
from equipoise.engine.wire import join_parent, receive, send

DEVICE_LOST = 75
"""The exit code of a worker whose device does not answer any more."""


class Unable:
    """Takes the place of a node that could not start: it answers every message with the reason."""

    def __init__(self, error: Exception) -> None:
        why = str(error) if isinstance(error, EquipoiseError) else f"{type(error).__name__}: {error}"
        self.error = EngineError(f"a worker cannot start: {why}", where="worker process", fix="engine=local says more")

    def answer(self, message: Message, shared: State) -> Message:
        return error_message(self.error)


def started(site: bytes, device: str) -> Node | Unable:
    try:
        return open_node(site, device)
    except Exception as error:
        if not is_usable(device):
            print(f"worker of {device}: {error}", file=sys.stderr, flush=True)
            os._exit(DEVICE_LOST)
        return Unable(error)


def is_usable(device: str) -> bool:
    """Whether the device is there, and computes."""
    try:
        return device_of(device).is_there()
    except EquipoiseError:
        return False


def main() -> None:
    parent = join_parent()
    site, slabs = receive(parent), receive(parent)
    if site is None or slabs is None:
        return
    *descriptors, pulse, is_profiled, device = json.loads(slabs)
    PULSE.share(pulse)
    common, own = map(Slab, descriptors)
    node = started(site, device)
    gc.collect()
    gc.freeze()  # what was imported stays: it is not looked through again and again
    if is_profiled:
        WATCH.start()
    while (message := receive(parent)) is not None:
        WATCH.lap("idle")
        header, sent, places = json.loads(message)
        try:
            answer, tensors = node.answer((header, own.read(places)), common.read(sent, copies=False))
        except DeviceLost as error:
            print(f"worker of {device}: {error.what}", file=sys.stderr, flush=True)
            os._exit(DEVICE_LOST)
        places = own.write(tensors)
        WATCH.lap("update")
        send(parent, json.dumps([places, WATCH.take()]).encode())
        send(parent, json.dumps(answer).encode())


if __name__ == "__main__":
    main()
