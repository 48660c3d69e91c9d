"""The round in pfl-research (package `pfl`): its simulated backend, its federated averaging, its local SGD.

    w ← w − 1·(−Σ_k n_k·(w_k − w) / Σ_k n_k)        its central optimiser, SGD with rate 1, is the plain mean

Ours are the batches, which a user's dataset gives in the job's order, and that no user is evaluated: pfl measures each
one before and after training in the first round it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.bench.job import BenchmarkJob, Logits, Program
from equipoise.core.errors import ConfigError
from equipoise.core.values import State


class Scored(Logits):
    """The network with the two functions pfl asks of it."""

    def loss(self, images: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(self(images), labels)

    def metrics(self, images: Tensor, labels: Tensor) -> dict[str, Any]:
        return {}


def pfl(job: BenchmarkJob, threads: int = 1) -> Program:
    """One process with `threads` threads. ImportError where pfl is not installed."""
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.aggregate.weighting import WeightByDatapoints
    from pfl.algorithm.base import NNAlgorithmParams
    from pfl.hyperparam import NNTrainHyperParams
    from pfl.model.pytorch import PyTorchModel

    net = _network(job)
    local = partial(torch.optim.SGD, momentum=job.config.client.momentum)
    model = PyTorchModel(net, local_optimizer_create=local, central_optimizer=torch.optim.SGD(net.parameters(), lr=1.0))
    users = _users(job)
    backend = SimulatedBackend(training_data=users, val_data=users, postprocessors=[WeightByDatapoints()])
    everybody = NNAlgorithmParams(
        central_num_iterations=1, evaluation_frequency=1, train_cohort_size=job.n_clients, val_cohort_size=None
    )
    training = NNTrainHyperParams(
        local_batch_size=job.config.client.batch, local_num_epochs=1, local_learning_rate=job.lr
    )

    def one_round() -> State:
        torch.set_num_threads(threads)
        net.load_state_dict(dict(job.start))
        _averaging().run(everybody, backend, model, training, send_metrics_to_platform=False)
        return {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}

    return one_round


def _network(job: BenchmarkJob) -> Scored:
    made = job.model()
    assert isinstance(made, Logits)
    if any(True for _ in made.buffers()):
        raise ConfigError(
            "pfl averages parameters only, and this model also has running statistics",
            where=f"model '{job.config.model.name}'",
            fix="choose a model without BatchNorm for the comparison",
        )
    return Scored(made.encoder, made.head)


def _users(job: BenchmarkJob) -> Any:
    """Everybody in turn; one epoch of a user's dataset is all the batches of the job."""
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.pytorch import PyTorchTensorDataset
    from pfl.data.sampling import MinimizeReuseUserSampler

    class Ordered(PyTorchTensorDataset):  # type: ignore[misc]
        def __init__(self, client: int) -> None:
            images, labels = job.data(client)
            super().__init__((images, labels), user_id=str(client))
            self.batches = [(images[batch], labels[batch]) for batch in map(torch.from_numpy, job.orders(client))]

        def iter(self, batch_size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
            yield from self.batches

    everyone = [Ordered(client) for client in range(job.n_clients)]
    return FederatedDataset(everyone.__getitem__, MinimizeReuseUserSampler(range(job.n_clients)))


def _averaging() -> Any:
    from pfl.algorithm.federated_averaging import FederatedAveraging

    class Training(FederatedAveraging):  # type: ignore[misc]
        def get_next_central_contexts(self, *args: Any, **options: Any) -> Any:
            contexts, model, metrics = super().get_next_central_contexts(*args, **options)
            return contexts and tuple(replace(each, do_evaluation=False) for each in contexts), model, metrics

    return Training()
