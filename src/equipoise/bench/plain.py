"""The obvious program: one client after another in bare PyTorch. It is the yardstick, so it is written to be fast.

Data is normalised once beforehand, one network and one optimiser serve all clients, and nothing is recorded. Weights
are channels-last, as `job.model()` builds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import nn
from torch.nn import functional as F

from equipoise.bench.job import BenchmarkJob, Program
from equipoise.core.values import State


class PlainLoop:
    """Some clients of a job, one after another."""

    def __init__(self, job: BenchmarkJob, clients: Sequence[int]) -> None:
        self.job, self.model = job, job.model()
        self.data = [job.data(client) for client in clients]
        self.orders = [[torch.from_numpy(batch) for batch in job.orders(client)] for client in clients]
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=job.lr, momentum=job.config.client.momentum)

    def __call__(self) -> Iterator[tuple[nn.Module, int]]:
        """The network as each client has trained it, and the client's number of samples."""
        self.model.train()
        for (images, labels), order in zip(self.data, self.orders, strict=True):
            self.model.load_state_dict(dict(self.job.start))
            self.optimiser.state.clear()
            for index in order:
                self.optimiser.zero_grad()
                F.cross_entropy(self.model(images[index]), labels[index]).backward()  # type: ignore[no-untyped-call]
                self.optimiser.step()
            yield self.model, len(labels)


def plain(job: BenchmarkJob, threads: int = 1) -> Program:
    """One round with `threads` threads."""
    loop = PlainLoop(job, range(job.n_clients))
    total = sum(len(labels) for _, labels in loop.data)

    def one_round() -> State:
        torch.set_num_threads(threads)
        merged = {name: torch.zeros_like(tensor) for name, tensor in job.start.items()}
        for model, n in loop():
            _add(merged, model, n / total)
        return merged

    return one_round


def _add(merged: State, model: nn.Module, share: float) -> None:
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point():
            merged[name].add_(tensor, alpha=share)
        else:
            merged[name].copy_(tensor)
