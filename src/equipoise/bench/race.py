"""A contest: one round of the same job, in Equipoise, in a plain PyTorch loop, and in any other program that is given.

All programs train on the same tensors in the same order and take turns in one run. Equipoise uses one worker per core.
The plain loop runs with one thread and with all; the faster one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from equipoise.bench.job import BenchmarkJob, Program
from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, compared
from equipoise.bench.ours import Ours, where
from equipoise.bench.plain import plain
from equipoise.core.machine import cores

PLAIN = "plain"


@dataclass(frozen=True)
class Contest:
    """`goal` is the least ratio against the plain loop."""

    name: str
    what: str
    job: BenchmarkJob
    goal: float


def settings(model: dict[str, Any], clients: int) -> dict[str, Any]:
    """One round of one epoch for every client, with a worker per core."""
    return {
        "model": model,
        "client": {"epochs": 1, "batch": 10, "lr": 0.05, "momentum": 0},
        "rounds": 1,
        "partition": {"clients": clients},
        "engine": {"name": "processes", "workers": cores()},
    }


def race(
    contest: Contest,
    repeats: int,
    others: Mapping[str, Program] | None = None,
    goals: Mapping[str, float] | None = None,
) -> Iterator[BenchmarkResult]:
    """One result for the plain loop and one for each kind of other program.

    A program's name begins with its kind, as in "other, threads 2". The fastest program of a kind counts. `goals` gives
    each kind its least ratio.
    """
    job, wanted = contest.job, {PLAIN: contest.goal, **(goals or {})}
    with Ours(job) as ours:
        programs: dict[str, Program] = {"ours": ours, **(others or {})}
        programs |= {f"{PLAIN}, threads {n}": plain(job, n) for n in sorted({1, cores()})}
        times = dict(zip(programs, by_turns(list(programs.values()), repeats, job.loss), strict=True))
        note = where(job.site, ours.tasks)
    for kind, goal in wanted.items():
        theirs = {name: timed for name, timed in times.items() if name.startswith(kind)}
        if theirs:
            best = min(theirs, key=lambda name: theirs[name].median)
            name, text = f"{contest.name}/{kind}", f"{contest.what}; against {best}"
            yield compared(name, text, times["ours"], theirs[best], Goal("at least", goal), note=note)
