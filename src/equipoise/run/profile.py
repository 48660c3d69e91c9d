"""Shows where the time of a run went, and which setting would help most.

The server's process and its workers are counted separately: a second in which two workers train counts as one second
of waiting for the server and two seconds of work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from equipoise.config.schema import Config
from equipoise.core.machine import cores
from equipoise.core.stopwatch import WORKERS

PARTS = {
    "data": "draw, take and normalise batches; augment",
    "forward": "the network and the losses",
    "backward": "gradients, and what λ makes of them",
    "compile": "first steps of a size of batch, which compile the network (engine.compile)",
    "optimiser": "clip, step, write numbers down",
    "update": "weights and numbers of a client, put together",
    "idle": "workers without a task, or the server without an answer",
    "merge": "updates checked, merged, measured",
    "evaluate": "scores",
    "store": "numbers and states written",
    "guard": "rules looked at during the run",
    "start": "data, partition, models",
}
MUCH = 0.25
"""Smallest share of the time that leads to advice."""


@dataclass(frozen=True)
class Part:
    """Seconds of the server's process, and summed seconds of its workers."""

    name: str
    server: float
    workers: float


def parts(seconds: Mapping[str, float]) -> list[Part]:
    found = [Part(name, seconds.get(name, 0.0), seconds.get(WORKERS + name, 0.0)) for name in PARTS]
    return [part for part in found if part.server or part.workers]


def advice(seconds: Mapping[str, float], config: Config, n_clients: int) -> list[str]:
    """Settings that would help, the most helpful first; empty if none would."""
    found = sorted(_advice(seconds, config, n_clients), key=lambda pair: -pair[0])
    return [text for _, text in found]


def _advice(seconds: Mapping[str, float], config: Config, n_clients: int) -> Iterator[tuple[float, str]]:
    own = {name: spent for name, spent in seconds.items() if not name.startswith(WORKERS)}
    total = sum(own.values()) or 1.0
    share = {name: spent / total for name, spent in own.items()}
    training = sum(share.get(name, 0.0) for name in ("data", "forward", "backward", "optimiser", "update"))
    cohort = max(1, round(config.server.fraction * n_clients))
    if config.engine.name == "local" and training > MUCH and cores() > 1 and cohort > 1:
        yield training, f"engine=processes: clients take {training:.0%} of the time, on one of {cores()} cores"
    if config.engine.name == "local" and training > MUCH and cohort == 1 and cores() > 1:
        yield training, f"engine.threads={cores()}: one client at a time takes {training:.0%} (the last bits may move)"
    if share.get("evaluate", 0.0) > MUCH:
        every = max(2, 2 * config.evaluate.every)
        yield share["evaluate"], f"evaluate.every={every}: scores take {share['evaluate']:.0%}"
    making = share.get("compile", 0.0) + seconds.get(f"{WORKERS}compile", 0.0) / total
    if making > MUCH:
        yield making, f"engine.compile=false: compiling takes {making:.0%}, more than such a run gains"
    if share.get("store", 0.0) > MUCH:
        yield share["store"], f"fewer checkpoints, or longer rounds: writing takes {share['store']:.0%}"
    if share.get("start", 0.0) > 2 * MUCH:
        yield share["start"], f"more rounds in one run: starting takes {share['start']:.0%}"
    work = sum(spent for name, spent in seconds.items() if name.startswith(WORKERS)) or 1.0
    idle = seconds.get(f"{WORKERS}idle", 0.0) / work
    if idle > MUCH:
        yield idle, f"a larger cohort (server.fraction), or fewer engine.workers: workers wait {idle:.0%} of their time"
    if (drawing := share.get("data", 0.0) + seconds.get(f"{WORKERS}data", 0.0) / work) > MUCH:
        yield drawing, f"client.augment=none, where the method allows it: batches take {drawing:.0%}"
