"""The simulators that are installed, each as a program that does one round of a benchmark job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress

from equipoise.bench.job import BenchmarkJob, Program
from equipoise.core.machine import cores

GOALS: Mapping[str, Mapping[str, float]] = {
    "cohort": {"pfl": 2.0, "flower": 2.5},
    "tiny": {"pfl": 10.0, "flower": 40.0},
}
"""Least ratio against each simulator, by benchmark."""


@contextmanager
def installed(job: BenchmarkJob) -> Iterator[Mapping[str, Program]]:
    """Name → one round in that simulator, warmed up. pfl-research runs with one thread and with all."""
    from scripts.rivals.flower import Flower
    from scripts.rivals.pfl import pfl

    found: dict[str, Program] = {}
    with ExitStack() as stack:
        with suppress(ImportError):
            found |= {f"pfl, threads {n}": pfl(job, n) for n in sorted({1, cores()})}
        with suppress(ImportError):
            found["flower"] = stack.enter_context(Flower(job))
        yield found
