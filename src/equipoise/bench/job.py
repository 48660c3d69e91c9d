"""One round of FedAvg for several programs: the same clients, batches, order, initial weights and learning rate.

    w_k ← w_k − lr·∇CE(batch)  over its batches        w ← Σ_k (n_k / n)·w_k

A program is a function without arguments that does the round once and returns the merged weights. `loss` scores these
weights on the images: programs that did the same work have the same loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.client.batches import batches
from equipoise.config.check import check
from equipoise.config.schema import Config
from equipoise.core.device import CPU
from equipoise.core.values import Indices, Samples, State
from equipoise.data.inputs import PixelInputs
from equipoise.kind.samples.site import SampleSite
from equipoise.method.resolve import resolve
from equipoise.models.build import build_model, state_of

MEAN = STD = (0.5, 0.5, 0.5)
Program = Callable[[], State]
"""Does one round; returns the merged weights."""


class Logits(nn.Module):
    """A classifier that returns logits only, as other programs expect; weights keep their names."""

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, images: Tensor) -> Tensor:
        out: Tensor = self.head(self.encoder(images))
        return out


@dataclass(frozen=True)
class BenchmarkJob:
    """The clients' data and the initial weights of the round."""

    site: SampleSite
    start: State
    """Contiguous float32 tensors by name."""

    @property
    def config(self) -> Config:
        return self.site.config

    @property
    def lr(self) -> float:
        return self.config.client.lr

    @property
    def n_clients(self) -> int:
        return self.site.n_clients

    def model(self) -> nn.Module:
        """A new network that returns logits; load `start` into it."""
        made = build_model(self.config.model, self.site.shape, self.site.n_classes, self.config.seed)
        return Logits(made.encoder, made.head)

    def data(self, client: int) -> tuple[Tensor, Tensor]:
        """Normalised images [N, 3, H, W] and labels [N]."""
        images = self.site.train.take(self.site.indices[client])
        return self.site.inputs.prepare(images.inputs), torch.from_numpy(images.labels)

    def orders(self, client: int) -> list[Indices]:
        """The client's batches in training order, as positions in its own images."""
        options, n = self.config.client, len(self.site.indices[client])
        found = (batches(n, options.batch, self.config.seed, epoch, client) for epoch in range(options.epochs))
        return [batch for epoch in found for batch in epoch]

    def loss(self, weights: State) -> float:
        """Mean cross-entropy on the images of the first 50 clients."""
        model = self.model()
        model.load_state_dict(dict(weights))
        everything = [self.data(client) for client in range(min(50, self.n_clients))]
        images, labels = (torch.cat(parts) for parts in zip(*everything, strict=True))
        with torch.inference_mode():
            return float(F.cross_entropy(model(images), labels))


def make_job(
    settings: dict[str, Any], shape: tuple[int, int, int], sizes: Sequence[int], n_classes: int = 10
) -> BenchmarkJob:
    """A job on random images; client k has sizes[k] of them. All programs use the CPU unless settings say otherwise."""
    placed = {**settings, "engine": {"device": CPU, **settings.get("engine", {})}}
    config, draw, total = check(placed), np.random.default_rng(0), sum(sizes)
    pixels = draw.integers(0, 256, (total, *shape), dtype=np.uint8)
    labels = draw.integers(0, n_classes, total)
    owned = np.split(np.arange(total), np.cumsum(sizes)[:-1])
    inputs = PixelInputs(MEAN, STD)
    site = SampleSite(config, resolve(config), Samples(pixels, labels), owned, n_classes, inputs)
    return BenchmarkJob(site, state_of(build_model(config.model, site.shape, n_classes, config.seed)))
