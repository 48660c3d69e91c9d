"""The simulators' common task: a cohort of 50 clients with 50 images of 32×32 each, batch 10, one epoch, a small CNN.

Ours has a worker per core; the plain loop has the number of threads that suits it best; other simulators run when they
are installed. All train on the same tensors in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipoise.bench.job import Job, Program, make_job
from equipoise.bench.measure import Goal, Result, by_turns, compared
from equipoise.bench.ours import Ours, where
from equipoise.bench.plain import plain
from equipoise.bench.rivals import installed
from equipoise.core.machine import cores

CLIENTS, IMAGES = 50, 50
WHAT = f"{CLIENTS} clients × {IMAGES} images, CNN of 0.55 M weights"
GOALS = {"plain": 1.6, "pfl": 2.0, "flower": 2.5}


def run(repeats: int) -> Iterator[Result]:
    job = make_job(settings({"name": "cnn"}, CLIENTS), (3, 32, 32), [IMAGES] * CLIENTS)
    yield from races("cohort", WHAT, job, GOALS, repeats)


def settings(model: dict[str, Any], clients: int) -> dict[str, Any]:
    return {
        "model": model,
        "client": {"epochs": 1, "batch": 10, "lr": 0.05, "momentum": 0},
        "rounds": 1,
        "partition": {"clients": clients},
        "engine": {"name": "processes", "workers": cores()},
    }


def races(name: str, what: str, job: Job, goals: dict[str, float], repeats: int) -> Iterator[Result]:
    """Ours against everybody who is here, all by turns in one run."""
    with installed(job) as rivals, Ours(job) as ours:
        programs: dict[str, Program] = {"ours": ours, **rivals}
        programs |= {f"plain, threads {n}": plain(job, n) for n in sorted({1, cores()})}
        times = dict(zip(programs, by_turns(list(programs.values()), repeats, job.loss), strict=True))
        note = where(job.site, ours.tasks)
    sides = {kind: {rival: timed for rival, timed in times.items() if rival.startswith(kind)} for kind in goals}
    if missing := [kind for kind, theirs in sides.items() if not theirs]:
        note += f"; not installed, so not timed: {', '.join(missing)} (make bench-rivals)"
    for kind, theirs in sides.items():
        if theirs:
            best = min(theirs, key=lambda rival: theirs[rival].median)
            text, goal = f"{what}; against {best}", Goal("at least", goals[kind])
            yield compared(f"{name}/{kind}", text, times["ours"], theirs[best], goal, note=note)
