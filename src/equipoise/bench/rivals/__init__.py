"""Other simulators, as far as they are installed: pfl-research (`pfl`) and Flower (`flwr` with `ray`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress

from equipoise.bench.job import Job, Program
from equipoise.core.machine import cores


@contextmanager
def installed(job: Job) -> Iterator[Mapping[str, Program]]:
    """Name → one round in that simulator, warmed up; where threads matter, once with one and once with all."""
    from equipoise.bench.rivals.flower import Flower
    from equipoise.bench.rivals.pfl import pfl

    found: dict[str, Program] = {}
    with ExitStack() as stack:
        with suppress(ImportError):
            found |= {f"pfl, threads {n}": pfl(job, n) for n in sorted({1, cores()})}
        with suppress(ImportError):
            found["flower"] = stack.enter_context(Flower(job))
        yield found
