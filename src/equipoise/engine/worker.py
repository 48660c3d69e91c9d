"""A worker process: told once what the site is, then one cohort after another, until its parent is gone."""

from __future__ import annotations

import json

from equipoise.core.pulse import PULSE
from equipoise.core.stopwatch import WATCH
from equipoise.engine.shared import open_node
from equipoise.engine.slab import Slab
from equipoise.engine.wire import join_parent, receive, send


def main() -> None:
    parent = join_parent()
    site, slabs = receive(parent), receive(parent)
    if site is None or slabs is None:
        return
    *descriptors, pulse, is_profiled = json.loads(slabs)
    PULSE.share(pulse)
    common, own = map(Slab, descriptors)
    node = open_node(site)
    if is_profiled:
        WATCH.start()
    while (message := receive(parent)) is not None:
        WATCH.lap("idle")
        header, sent, places = json.loads(message)
        answer, tensors = node.answer((header, own.read(places)), common.read(sent, copies=False))
        places = own.write(tensors)
        WATCH.lap("update")
        send(parent, json.dumps([places, WATCH.take()]).encode())
        send(parent, json.dumps(answer).encode())


if __name__ == "__main__":
    main()
