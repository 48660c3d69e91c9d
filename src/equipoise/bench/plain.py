"""The obvious program: one client after another in bare PyTorch. It is the yardstick, so it is written to be fast.

Data is normalised once beforehand, one network and one optimiser serve all clients, and nothing is recorded.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from equipoise.bench.job import BenchmarkJob, Program
from equipoise.core.values import State


def plain(job: BenchmarkJob, threads: int = 1, channels_last: bool = False) -> Program:
    """One round with `threads` threads."""
    model, data = job.model(), [job.data(client) for client in range(job.n_clients)]
    orders = [[torch.from_numpy(batch) for batch in job.orders(client)] for client in range(job.n_clients)]
    if channels_last:
        model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = torch.optim.SGD(model.parameters(), lr=job.lr, momentum=job.config.client.momentum)
    total = sum(len(labels) for _, labels in data)

    def one_round() -> State:
        torch.set_num_threads(threads)
        model.train()
        merged = {name: torch.zeros_like(tensor) for name, tensor in job.start.items()}
        for (images, labels), order in zip(data, orders, strict=True):
            model.load_state_dict(dict(job.start))
            optimiser.state.clear()
            for index in order:
                optimiser.zero_grad()
                F.cross_entropy(model(images[index]), labels[index]).backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            _add(merged, model, len(labels) / total)
        return merged

    return one_round


def _add(merged: State, model: nn.Module, share: float) -> None:
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point():
            merged[name].add_(tensor, alpha=share)
        else:
            merged[name].copy_(tensor)
