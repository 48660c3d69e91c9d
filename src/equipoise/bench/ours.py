"""The round of a `Job` as Equipoise does it: tasks to the engine, updates checked at the door, merged by the mean."""

from __future__ import annotations

from types import TracebackType

from equipoise.bench.job import Job
from equipoise.core.registry import ENGINES
from equipoise.core.values import ClientUpdate, State, Task
from equipoise.engine.engine import Engine
from equipoise.server.admit import objection
from equipoise.server.mean import weighted_mean


class Ours:
    """`with Ours(job) as one_round: weights = one_round()`"""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.engine: Engine = ENGINES.find(job.config.engine.name).make(job.site)

    def __call__(self) -> State:
        job = self.job
        tasks = [Task(0, client, range(job.config.client.epochs), job.start) for client in range(job.n_clients)]
        updates = [update for update in self.engine.map(tasks) if isinstance(update, ClientUpdate)]
        assert len(updates) == len(tasks)
        assert not any(objection(update, job.start) for update in updates)
        return weighted_mean(updates, job.start)

    def __enter__(self) -> Ours:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.engine.close()
