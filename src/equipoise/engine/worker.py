"""A worker process: told once what the site is, then one cohort after another, until its parent is gone."""

from __future__ import annotations

import json
from collections.abc import Sequence

from equipoise.core.errors import EngineError, EquipoiseError
from equipoise.core.pulse import PULSE
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import Result, Task
from equipoise.engine.engine import Work, make_work
from equipoise.engine.messages import error_message, results_message, tasks_of
from equipoise.engine.shared import shared_site
from equipoise.engine.slab import Slab
from equipoise.engine.wire import join_parent, receive, send


def started(site: bytes) -> Work:
    """The work of a site; where that cannot begin, every task is answered with the reason."""
    try:
        return make_work(shared_site(site))
    except Exception as error:
        why = str(error) if isinstance(error, EquipoiseError) else f"{type(error).__name__}: {error}"
        failure = EngineError(f"a worker cannot start: {why}", where="worker process", fix="engine=local says more")

        def refuse(tasks: Sequence[Task]) -> list[Result]:
            raise failure

        return refuse


def main() -> None:
    parent = join_parent()
    site, slabs = receive(parent), receive(parent)
    if site is None or slabs is None:
        return
    *descriptors, pulse, is_profiled = json.loads(slabs)
    PULSE.share(pulse)
    common, own = map(Slab, descriptors)
    work = started(site)
    if is_profiled:
        WATCH.start()
    while (message := receive(parent)) is not None:
        WATCH.lap("idle")
        header, sent, places = json.loads(message)
        tasks = tasks_of((header, own.read(places)), common.read(sent, copies=False))
        try:
            answer, tensors = results_message(work(tasks))
        except EquipoiseError as error:
            answer, tensors = error_message(error)
        places = own.write(tensors)
        WATCH.lap("update")
        send(parent, json.dumps([places, WATCH.take()]).encode())
        send(parent, json.dumps(answer).encode())


if __name__ == "__main__":
    main()
