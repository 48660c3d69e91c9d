"""One round of a benchmark job in Equipoise: the engine maps the tasks, the server checks and averages the updates."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.bench.job import BenchmarkJob
from equipoise.core.arithmetic import prepare
from equipoise.core.registry import ENGINES
from equipoise.core.stopwatch import WATCH, WORKERS
from equipoise.core.values import ClientUpdate, State, Task
from equipoise.engine.engine import Engine
from equipoise.kind.site import Site
from equipoise.server.admit import objections
from equipoise.server.mean import weighted_mean


def where(site: Site, tasks: Sequence[Task]) -> str:
    """How the workers' time divides in one more round, measured in a separate engine."""
    WATCH.start()
    engine: Engine = ENGINES.find(site.config.engine.name).make(site)
    list(engine.map(tasks))  # starts the workers
    WATCH.take()
    list(engine.map(tasks))
    engine.close()
    laps = WATCH.stop()
    work = {name.removeprefix(WORKERS): spent for name, spent in laps.items() if name != "idle"}
    total = sum(work.values()) or 1.0
    parts = sorted(work.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {spent / total:.0%}" for name, spent in parts)


class Ours:
    """`with Ours(job) as one_round: weights = one_round()`"""

    def __init__(self, job: BenchmarkJob) -> None:
        self.job = job
        self.engine: Engine = ENGINES.find(job.config.engine.name).make(job.site)

    @property
    def tasks(self) -> list[Task]:
        epochs = range(self.job.config.client.epochs)
        return [Task(0, client, epochs, self.job.start) for client in range(self.job.n_clients)]

    def __call__(self) -> State:
        job = self.job
        prepare(job.config.engine)  # as a run does; the side before may have left torch with more threads
        updates = [update for update in self.engine.map(self.tasks) if isinstance(update, ClientUpdate)]
        assert len(updates) == job.n_clients
        assert not any(objections(updates, job.start))
        merged = weighted_mean(updates, job.start)
        job.site.device.wait()  # the clock is read next
        return merged

    def __enter__(self) -> Ours:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()
