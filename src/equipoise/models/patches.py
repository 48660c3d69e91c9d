"""Fixed features that everybody can compute alike, from nobody's data: filters are cut from public photographs.

    p̂ = (patch − mean) / √(variance + ε)          r_j = w_jᵀ·Z·p̂,  Z = (Σ + γ·I)^(−½),  Σ of the photographs' p̂
    q = mean over each cell of (r − θ)₊, (−r − θ)₊    z = (√q − μ) / σ,  μ and σ over crops of the photographs
    φ = cos(A·z + b),  A ~ N(0, 2g/d²), b ~ U(0, 2π)  d² = mean squared distance of the crops' z; or φ = z

w_j are whitened patches of the photographs, at unit length. The cosines are random Fourier features: their products
approach the kernel exp(−g·‖z − z'‖²/d²). Everything follows from the two sample images of scikit-learn and the
settings; no run's seed, and no client, has a part in it.
Source: Coates, Ng, Lee, "An Analysis of Single-Layer Networks", 2011; Rahimi, Recht, "Random Features", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import tau
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.core.streams import stream, stream_seed
from equipoise.data.photographs import crops, photographs
from equipoise.models.classifier import Classifier
from equipoise.models.mirrored import Mirrored
from equipoise.models.settings import PatchesOptions

EPSILON, GAMMA = 0.15, 0.1
"""ε, in units of the pixels' variance, and γ."""
N_PATCHES, N_CROPS = 40_000, 2_000
LEAST = 1e-3
"""Least σ: a feature that the photographs never show is left small."""
FEW = 4
"""Images per pass on a CPU: their responses fit into the cache."""


def patches(options: PatchesOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    """A linear head on the fixed features."""
    kinds = options.filters, options.size, options.cells, options.threshold
    encoder = PatchFeatures(fixed(Settings(*kinds, options.features, options.bandwidth), shape))
    return Classifier(Mirrored(encoder) if options.mirror else encoder, encoder.n_features, n_classes)


class Settings(NamedTuple):
    """What the constants depend on, beside the shape of an image."""

    filters: int
    size: int
    cells: int
    threshold: float
    features: int | None
    bandwidth: float


@dataclass(frozen=True)
class Fixed:
    """The constants of φ."""

    filters: Tensor
    """[J, C, S, S]: w_jᵀ·Z, centred, so that a patch's mean has no effect."""
    cells: int
    threshold: float
    mean: Tensor
    """μ."""
    scale: Tensor
    """σ."""
    directions: Tensor | None = None
    """A transposed, with σ in it: [2·J·cells², D]."""
    phases: Tensor | None = None
    """b − A·μ/σ."""


@lru_cache(maxsize=4)
def fixed(settings: Settings, shape: tuple[int, int, int]) -> Fixed:
    """The constants for images of that shape. They are large, so all networks of a process share them."""
    channels, height, width = shape
    filters = whitened_filters(settings, channels)
    bare = Fixed(filters, settings.cells, settings.threshold, torch.zeros(()), torch.ones(()))
    shown = pooled(torch.from_numpy(crops(channels, (height, width), N_CROPS)), bare)
    mean, scale = shown.mean(0), shown.std(0).clamp_min(LEAST)
    if settings.features is None:
        return Fixed(filters, settings.cells, settings.threshold, mean, scale)
    spread = 2 * ((shown - mean) / scale).square().sum(1).mean()
    generator = torch.Generator().manual_seed(stream_seed(0, "patch-directions"))
    drawn = torch.randn(len(mean), settings.features, generator=generator) * (2 * settings.bandwidth / spread).sqrt()
    phases = torch.rand(settings.features, generator=generator) * tau
    directions = drawn.div_(scale[:, None])
    return Fixed(filters, settings.cells, settings.threshold, mean, scale, directions, phases - mean @ directions)


def whitened_filters(settings: Settings, channels: int) -> Tensor:
    """w_jᵀ·Z of the first patches that were cut."""
    size = settings.size
    cut = torch.from_numpy(photographs(channels, size, max(N_PATCHES, settings.filters), stream(0, "patches")))
    flat = cut.flatten(1).double()
    centred = flat - flat.mean(1, keepdim=True)
    unit = centred / (centred.square().mean(1, keepdim=True) + EPSILON).sqrt()
    values, vectors = torch.linalg.eigh(unit.T @ unit / len(unit))
    whitening = (vectors * (values + GAMMA).rsqrt()) @ vectors.T
    white = F.normalize(unit[: settings.filters] @ whitening, dim=1) @ whitening
    found: Tensor = white - white.mean(1, keepdim=True)
    return found.float().view(-1, channels, size, size)


def pooled(images: Tensor, constants: Fixed) -> Tensor:
    """√q [B, 2·J·cells²]; images smaller than a filter are padded with zeros."""
    filters = constants.filters
    size, n = filters.shape[-1], filters[0].numel()
    missing = [max(0, size - side) for side in (images.shape[3], images.shape[2])]
    images = F.pad(images, (0, missing[0], 0, missing[1]))
    box = torch.ones_like(filters[:1])
    parts = []
    for few in torch.split(images, FEW if images.device.type == "cpu" else len(images)):
        mean = F.conv2d(few, box) / n
        variance = (F.conv2d(few.square(), box) / n - mean.square()).clamp_min(0)
        response = F.conv2d(few, filters) / (variance + EPSILON).sqrt()
        sides = (response - constants.threshold).relu_(), (-response - constants.threshold).relu_()
        parts.append(torch.cat([F.adaptive_avg_pool2d(side, constants.cells).flatten(1) for side in sides], 1))
    return torch.cat(parts).sqrt_()


class PatchFeatures(nn.Module):
    """φ. Its constants are no part of the network's state: nobody sends what everybody can make."""

    filters: Tensor
    mean: Tensor
    scale: Tensor
    directions: Tensor | None
    phases: Tensor | None

    def __init__(self, constants: Fixed) -> None:
        super().__init__()
        self.cells, self.threshold = constants.cells, constants.threshold
        layout = constants.filters.contiguous(memory_format=torch.channels_last)
        self.register_buffer("filters", layout, persistent=False)
        for name in ("mean", "scale", "directions", "phases"):
            self.register_buffer(name, getattr(constants, name), persistent=False)

    @property
    def n_features(self) -> int:
        return len(self.mean) if self.directions is None else self.directions.shape[1]

    def forward(self, images: Tensor) -> Tensor:
        found = pooled(images, Fixed(self.filters, self.cells, self.threshold, self.mean, self.scale))
        if self.directions is None or self.phases is None:
            return (found - self.mean) / self.scale
        return torch.addmm(self.phases, found, self.directions).cos_()
