"""The limit of a round on this machine's cores: one bare process per core, each a plain loop over its share of clients.

    limit = time of the slowest process        nothing is recorded, checked, sent back or merged

Each process has one thread, channels-last weights as ours, and keeps freed memory as our workers do. It builds its
clients beforehand and then waits for a message, so that its start is not measured.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch

from equipoise.bench.job import BenchmarkJob, Program, make_job
from equipoise.bench.plain import PlainLoop
from equipoise.bench.race import LIMIT
from equipoise.core.errors import EngineError
from equipoise.core.machine import cores
from equipoise.core.values import State
from equipoise.engine.allocator import keep_freed_memory
from equipoise.engine.wire import Child, join_parent, receive, send

GO, DONE = b"go", b"done"


@contextmanager
def bare_processes(job: BenchmarkJob, n: int | None = None) -> Iterator[dict[str, Program]]:
    """A program for `race` that trains a job's clients in `n` bare processes, by default one per core."""
    children = [Child(__name__) for _ in range(min(n or cores(), job.n_clients))]
    try:
        shares = range(len(children))
        _ask(children, [json.dumps([request(job), share, len(children)]).encode() for share in shares])

        def one_round() -> State:
            _ask(children, [GO for _ in children])
            return job.start  # nothing was merged

        yield {f"{LIMIT}: {len(children)} bare processes, channels-last": one_round}
    finally:
        for child in children:
            child.close()


def request(job: BenchmarkJob) -> dict[str, Any]:
    """The arguments from which `make_job` makes the same job in another process."""
    site = job.site
    return {
        "settings": job.config.model_dump(),
        "shape": list(site.train.inputs.shape[1:]),
        "sizes": [site.samples(client) for client in range(job.n_clients)],
        "n_classes": site.n_classes,
    }


def _ask(children: Sequence[Child], messages: Sequence[bytes]) -> None:
    """Send each process its message, and wait until all of them have done what it asks."""
    for child, message in zip(children, messages, strict=True):
        with suppress(ConnectionError):  # a process that is gone does not answer either
            send(child.socket, message)
    for place, child in enumerate(children):
        if receive(child.socket) != DONE:
            what = f"bare process {place + 1} of {len(children)} ended with exit code {child.process.wait()}"
            raise EngineError(what, where="equipoise bench", fix="read its own message above")


def main() -> None:
    parent = join_parent()
    asked = receive(parent)
    if asked is None:
        return
    torch.set_num_threads(1)
    keep_freed_memory()
    arguments, share, n = json.loads(asked)
    job = make_job(**arguments)
    loop = PlainLoop(job, range(share, job.n_clients, n))
    send(parent, DONE)
    while receive(parent) is not None:
        deque(loop(), maxlen=0)
        send(parent, DONE)


if __name__ == "__main__":
    main()
