"""Fixed features that everybody can compute alike, from nobody's data: filters are cut from public photographs.

    p̂ = (patch − mean) / √(variance + ε)          r_j = w_jᵀ·Z·p̂,  Z = (Σ + γ·I)^(−½),  Σ of the photographs' p̂
    q = mean over each cell of (r − θ)₊, (−r − θ)₊    z = (√q − μ) / σ,  μ and σ over crops of the photographs
    φ = Vᵀz in each cell,  V the `kept` first principal directions of the crops' z, or random ones; or φ = z

w_j are whitened patches of the photographs, at unit length. Many filters are nearly functions of each other, so a part
of the directions carries nearly all of what they show, and sums of φ have fewer entries. Everything follows from the
two sample images of scikit-learn and the settings; no run's seed, and no client, has a part in it.
Source: Coates, Ng, Lee, "An Analysis of Single-Layer Networks", 2011; the directions: ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
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
N_PATCHES, N_CROPS = 40_000, 4_000
LEAST = 1e-3
"""Least σ: a feature that the photographs never show is left small."""
FEW = 4
"""Images per pass on a CPU: their responses fit into the cache."""


def patches(options: PatchesOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    """A linear head on the fixed features."""
    kinds = options.filters, options.size, options.cells, options.threshold
    encoder = PatchFeatures(fixed(Settings(*kinds, options.kept, options.directions), shape))
    return Classifier(Mirrored(encoder) if options.mirror else encoder, encoder.n_features, n_classes)


class Settings(NamedTuple):
    """What the constants depend on, beside the shape of an image."""

    filters: int
    size: int
    cells: int
    threshold: float
    kept: int | None
    directions: str


@dataclass(frozen=True)
class Fixed:
    """The constants of φ."""

    filters: Tensor
    """[J, C, S, S]: w_jᵀ·Z, centred, so that a patch's mean has no effect."""
    cells: int
    threshold: float
    mean: Tensor
    """μ [2·J, cells²]."""
    scale: Tensor
    """σ [2·J, cells²]."""
    directions: Tensor | None = None
    """V [2·J, kept]; None: all are kept as they are."""


@lru_cache(maxsize=4)
def fixed(settings: Settings, shape: tuple[int, int, int]) -> Fixed:
    """The constants for images of that shape. They are large, so all networks of a process share them."""
    channels, height, width = shape
    filters, kinds = whitened_filters(settings, channels), (settings.cells, settings.threshold)
    shown = pooled(torch.from_numpy(crops(channels, (height, width), N_CROPS)), filters, *kinds)
    mean, scale = shown.mean(0), shown.std(0).clamp_min(LEAST)
    if settings.kept is None or settings.kept >= shown.shape[1]:
        return Fixed(filters, *kinds, mean, scale)
    if settings.directions == "random":
        generator = torch.Generator().manual_seed(stream_seed(0, "patch-directions"))
        drawn = torch.randn(shown.shape[1], settings.kept, generator=generator)
        return Fixed(filters, *kinds, mean, scale, torch.linalg.qr(drawn).Q)
    rows = shown.sub_(mean).div_(scale).transpose(1, 2).reshape(-1, shown.shape[1])
    vectors = torch.linalg.eigh(rows.T @ rows).eigenvectors
    return Fixed(filters, *kinds, mean, scale, vectors[:, -settings.kept :].contiguous())


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


def pooled(images: Tensor, filters: Tensor, cells: int, threshold: float) -> Tensor:
    """√q [B, 2·J, cells²]; images smaller than a filter are padded with zeros."""
    size, n = filters.shape[-1], filters[0].numel()
    missing = [max(0, size - side) for side in (images.shape[3], images.shape[2])]
    images = F.pad(images, (0, missing[0], 0, missing[1]))
    box = torch.ones_like(filters[:1])
    parts = []
    for few in torch.split(images, FEW if images.device.type == "cpu" else len(images)):
        mean = F.conv2d(few, box) / n
        variance = (F.conv2d(few.square(), box) / n - mean.square()).clamp_min(0)
        response = F.conv2d(few, filters) / (variance + EPSILON).sqrt()
        sides = (response - threshold).relu_(), (-response - threshold).relu_()
        parts.append(torch.cat([F.adaptive_avg_pool2d(side, cells).flatten(2) for side in sides], 1))
    return torch.cat(parts).sqrt_()


class PatchFeatures(nn.Module):
    """φ. Its constants are no part of the network's state: nobody sends what everybody can make."""

    filters: Tensor
    mean: Tensor
    scale: Tensor
    directions: Tensor | None

    def __init__(self, constants: Fixed) -> None:
        super().__init__()
        self.cells, self.threshold = constants.cells, constants.threshold
        layout = constants.filters.contiguous(memory_format=torch.channels_last)
        self.register_buffer("filters", layout, persistent=False)
        for name in ("mean", "scale", "directions"):
            self.register_buffer(name, getattr(constants, name), persistent=False)

    @property
    def n_features(self) -> int:
        return (len(self.mean) if self.directions is None else self.directions.shape[1]) * self.cells**2

    def forward(self, images: Tensor) -> Tensor:
        z = pooled(images, self.filters, self.cells, self.threshold).sub_(self.mean).div_(self.scale)
        return z.flatten(1) if self.directions is None else (z.transpose(1, 2) @ self.directions).flatten(1)
