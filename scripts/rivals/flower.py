"""The round in Flower's simulation (packages `flwr` and `ray`), after its warm-up.

    with Flower(job) as one_round:      Ray started, an actor for each core, one round done: `startup` seconds
        merged = one_round()            a Program: Flower's FedAvg strategy, one round from job.start

The simulation runs in a thread of its own and stays alive between rounds: its ServerApp waits for a call, starts the
strategy for one round and hands back the merged weights. An actor reads the job from a file once and keeps the data,
the network and the optimiser, so that a message carries weights only.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import Queue
from time import perf_counter
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.bench.job import BenchmarkJob
from equipoise.config.check import check
from equipoise.core.codec import decode, encode
from equipoise.core.errors import EngineError
from equipoise.core.machine import cores
from equipoise.core.values import State
from equipoise.kind.samples.site import SampleSite
from equipoise.method.resolve import resolve

SETTINGS = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",
}
"""Nothing is reported to anybody, Ray does not warn that it found no accelerator, and its workers keep our priority:
by default they yield to every other process, which would be timed as Flower's slowness on a busy machine."""


class Flower:
    """A Program once made; close it, or use it in a `with`. ImportError where flwr or ray is not installed."""

    def __init__(self, job: BenchmarkJob) -> None:
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
        begun = perf_counter()
        import flwr.simulation
        import ray  # noqa: F401  Flower ends the process where it is missing

        logging.getLogger("flwr").setLevel(logging.ERROR)
        self._job = job
        self._calls: Queue[bool] = Queue()
        self._answers: Queue[State | BaseException] = Queue()
        self._folder = tempfile.TemporaryDirectory(prefix="equipoise-flower-")
        self._thread = threading.Thread(target=self._simulate, args=(flwr.simulation.run_simulation,), daemon=True)
        self._thread.start()
        try:
            self()
        except BaseException:
            self.close()
            raise
        self.startup = perf_counter() - begun
        """Seconds from importing Flower to the end of the first round."""

    def __call__(self) -> State:
        if not self._thread.is_alive():
            raise EngineError("Flower's simulation has ended", fix="make a new Flower(job)")
        self._calls.put(True)
        answer = self._answers.get()
        if isinstance(answer, BaseException):
            raise EngineError(f"Flower's simulation failed: {answer}") from answer
        return answer

    def close(self) -> None:
        self._calls.put(False)
        self._thread.join()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _simulate(self, run_simulation: Any) -> None:
        from flwr.serverapp import ServerApp

        server = ServerApp()
        server.main()(self._serve)
        try:
            path = Path(self._folder.name) / "job"
            path.write_bytes(_job_bytes(self._job))
            run_simulation(
                server_app=server,
                client_app=_client(str(path)),
                num_supernodes=self._job.n_clients,
                backend_config={
                    "init_args": {"num_cpus": cores(), "num_gpus": 0},
                    "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
                },
            )
        except BaseException as error:
            self._answers.put(error)

    def _serve(self, grid: Any, context: Any) -> None:
        from flwr.app import ArrayRecord

        strategy = _averaging(self._job.n_clients)
        while self._calls.get():
            result = strategy.start(grid, ArrayRecord(dict(self._job.start)), num_rounds=1)
            self._answers.put(result.arrays.to_torch_state_dict())


def _averaging(n_clients: int) -> Any:
    """FedAvg over everybody. Flower would average those who answered; here a client that failed fails the round."""
    from flwr.serverapp.strategy import FedAvg

    class Everybody(FedAvg):  # type: ignore[misc]
        def aggregate_train(self, server_round: int, replies: Iterable[Any]) -> Any:
            heard = list(replies)
            failed = [str(reply.error.reason) for reply in heard if reply.has_error()]
            if failed or len(heard) < n_clients:
                raise EngineError(f"{len(heard)} of {n_clients} clients answered, {len(failed)} failed: {failed[:1]}")
            return super().aggregate_train(server_round, heard)

    return Everybody(fraction_evaluate=0.0, min_train_nodes=n_clients, min_available_nodes=n_clients)


def _client(path: str) -> Any:
    from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp

    app = ClientApp()

    @app.train()  # type: ignore[untyped-decorator]
    def train(message: Any, context: Any) -> Any:
        weights, n = _bench(path).train(
            int(context.node_config["partition-id"]), message.content["arrays"].to_torch_state_dict()
        )
        content = {"arrays": ArrayRecord(dict(weights)), "metrics": MetricRecord({"num-examples": n})}
        return Message(content=RecordDict(content), reply_to=message)

    return app


@dataclass(frozen=True)
class ActorState:
    """What an actor keeps: the network, its optimiser, and everybody's batches."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    batches: list[list[tuple[Tensor, Tensor]]]

    def train(self, client: int, start: State) -> tuple[State, int]:
        self.model.load_state_dict(dict(start))
        self.optimiser.state.clear()
        n = 0
        for images, labels in self.batches[client]:
            self.optimiser.zero_grad()
            F.cross_entropy(self.model(images), labels).backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            n += len(labels)
        return self.model.state_dict(), n


def _job_bytes(job: BenchmarkJob) -> bytes:
    """The site as workers of ours get it; the start comes with every message."""
    arrays, facts = job.site.shared()
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return encode({"config": job.config.model_dump(), "facts": facts}, tensors)


def _job_from(data: bytes) -> BenchmarkJob:
    header, tensors = decode(data)
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    config = check(header["config"])
    return BenchmarkJob(SampleSite.of_shared(config, resolve(config), arrays, header["facts"]), {})


@lru_cache(maxsize=1)
def _bench(path: str) -> ActorState:
    torch.set_num_threads(1)
    job = _job_from(Path(path).read_bytes())
    model = job.model().train()
    optimiser = torch.optim.SGD(model.parameters(), lr=job.lr, momentum=job.config.client.momentum)
    return ActorState(model, optimiser, [_batches(job, client) for client in range(job.n_clients)])


def _batches(job: BenchmarkJob, client: int) -> list[tuple[Tensor, Tensor]]:
    images, labels = job.data(client)
    return [(images[batch], labels[batch]) for batch in map(torch.from_numpy, job.orders(client))]
