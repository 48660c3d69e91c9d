"""A contest: one round of the same job, in Equipoise, in a plain PyTorch loop, and in any other program that is given.

All programs train on the same tensors in the same order and take turns in one run. Equipoise uses one worker per core.
The plain loop runs with one thread and with all; the faster one counts. A limit is no contestant: the ratio that it
reaches is noted beside ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from equipoise.bench.job import BenchmarkJob, Program
from equipoise.bench.measure import BenchmarkResult, Goal, Timing, by_turns, compared, speedup
from equipoise.bench.ours import Ours, where
from equipoise.bench.plain import plain
from equipoise.core.machine import cores

PLAIN, LIMIT = "plain", "limit"
"""Kinds of programs: the yardstick, and programs that only train and leave out the rest of a round."""


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
        best = _fastest(times, kind)
        if best is not None:
            name, text = f"{contest.name}/{kind}", f"{contest.what}; against {best}"
            more = _with_limit(note, times, times[best])
            yield compared(name, text, times["ours"], times[best], Goal("at least", goal), **more)


def _fastest(times: Mapping[str, Timing], kind: str) -> str | None:
    """The fastest program of a kind; None if there is none."""
    names = [name for name in times if name.startswith(kind)]
    return min(names, key=lambda name: times[name].median, default=None)


def _with_limit(note: str, times: Mapping[str, Timing], theirs: Timing) -> dict[str, Any]:
    """The note of a result; if a limit was timed, its ratio to the other program too."""
    name = _fastest(times, LIMIT)
    if name is None:
        return {"note": note}
    ratio = speedup(times[name], theirs)
    return {"limit": ratio, "note": f"{name} {ratio:.3g}×; {note}"}
