"""Fixed features that everybody can compute alike, from nobody's data: filters are cut from public photographs.

    p̂ = (patch − mean) / √(variance + ε)          r_j = w_jᵀ·Z·p̂,  Z = (Σ + γ·I)^(−½),  Σ of the photographs' p̂
    q = mean over each cell of (r − θ)₊, (−r − θ)₊    z = (√q − μ) / σ,  μ and σ over crops of the photographs
    φ = Vᵀz in each cell,  V the `kept` first principal directions of the crops' z, or random ones; or φ = z

w_j are whitened patches of the photographs, at unit length. Everything follows from the two sample images of
scikit-learn and the settings; no run's seed, and no client, has a part in it. Fewer directions make the sums smaller.
Source: Coates, Ng, Lee, "An Analysis of Single-Layer Networks", 2011; the directions: ours.
"""

from __future__ import annotations

from collections.abc import Sequence
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

SMALL, FOR_SMALL, FOR_OTHERS = 16, (200, 3), (1250, 6)
"""Below how many pixels an image is small; number and size of filters if it is, and if not."""
COMMON_FILTERS = 400
"""Most filters of the features for `server.common`."""
EPSILON, GAMMA = 0.15, 0.1
"""ε, in units of the pixels' variance, and γ."""
N_PATCHES, N_CROPS = 40_000, 4_000
LEAST = 1e-3
"""Least σ: a feature that the photographs never show is left small."""
FEW, BLOCK = 16, 512
"""Images whose patches are cut at once, and filters per pass: on a CPU, where images pass one by one, responses fit
into the cache."""


def patches(options: PatchesOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    """A linear head on the fixed features."""
    encoder = PatchFeatures(fixed(planned(options, shape), shape))
    return Classifier(Mirrored(encoder) if options.mirror else encoder, encoder.n_features, n_classes)


def common_encoder(shape: tuple[int, int, int], seed: int) -> nn.Module:
    """The features for servers that add them to trained clients: fewer, since each client's sums are kept. No seed has
    a part in them."""
    plan = planned(PatchesOptions(), shape)
    few = plan._replace(filters=min(COMMON_FILTERS, plan.filters))
    return Mirrored(PatchFeatures(fixed(few, shape)))


class Settings(NamedTuple):
    """What the constants depend on, beside the shape of an image."""

    filters: int
    size: int
    cells: int
    threshold: float
    kept: int | None
    directions: str

    @property
    def n_features(self) -> int:
        responses = 2 * self.filters
        return self.cells**2 * (responses if self.kept is None else min(self.kept, responses))


def planned(options: PatchesOptions, shape: tuple[int, ...]) -> Settings:
    """The settings for images of that shape."""
    filters, size = FOR_SMALL if min(shape[1:]) < SMALL else FOR_OTHERS
    kinds = options.cells, options.threshold, options.kept, options.directions
    return Settings(options.filters or filters, options.size or size, *kinds)


@dataclass(frozen=True)
class Fixed:
    """The constants of φ."""

    filters: Tensor
    """[J, C, S, S]: w_jᵀ·Z, centred, so that a patch's mean has no effect."""
    cells: int
    threshold: float
    mean: Tensor
    """μ [cells², 2·J]."""
    scale: Tensor
    """σ [cells², 2·J]."""
    directions: Tensor | None = None
    """V [2·J, kept]; None: all are kept as they are."""


@lru_cache(maxsize=4)
def fixed(settings: Settings, shape: tuple[int, int, int]) -> Fixed:
    """The constants for images of that shape. They are large, so all networks of a process share them."""
    channels, height, width = shape
    filters, kinds = whitened_filters(settings, channels), (settings.cells, settings.threshold)
    shown = pooled(torch.from_numpy(crops(channels, (height, width), N_CROPS)), filters, *kinds)
    mean, scale = shown.mean(0), shown.std(0).clamp_min(LEAST)
    if settings.kept is None or settings.kept >= shown.shape[2]:
        return Fixed(filters, *kinds, mean, scale)
    if settings.directions == "random":
        generator = torch.Generator().manual_seed(stream_seed(0, "patch-directions"))
        drawn = torch.randn(shown.shape[2], settings.kept, generator=generator)
        return Fixed(filters, *kinds, mean, scale, torch.linalg.qr(drawn).Q)
    rows = shown.sub_(mean).div_(scale).flatten(0, 1)
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
    """√q [B, cells², 2·J]; images smaller than a filter are padded with zeros."""
    size = filters.shape[-1]
    missing = [max(0, size - side) for side in (images.shape[3], images.shape[2])]
    images = F.pad(images, (0, missing[0], 0, missing[1]))
    areas = cell_means([side - size + 1 for side in images.shape[2:]], cells).to(images)
    few = 1 if images.device.type == "cpu" else FEW
    blocks, parts = torch.split(filters.flatten(1), BLOCK), []
    for some in torch.split(images, FEW):
        for patches in torch.split(normalised(some, size), few):
            sides = [_both_sides(F.linear(patches, block), areas, threshold) for block in blocks]
            high, low = zip(*sides, strict=True)
            parts.append(torch.cat([*high, *low], 2))
    return torch.cat(parts).sqrt_()


def normalised(images: Tensor, size: int) -> Tensor:
    """p̂ of every place [B, L, C·size²]."""
    patches = F.unfold(images, size).transpose(1, 2)
    centred = patches - patches.mean(2, keepdim=True)
    return centred / (centred.square().mean(2, keepdim=True) + EPSILON).sqrt()


def _both_sides(response: Tensor, areas: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """Means of (r − θ)₊ and (−r − θ)₊ over every cell, from r [B, L, J]."""
    beyond = F.softshrink(response, threshold)
    return areas @ beyond.clamp(min=0), areas @ -beyond.clamp(max=0)


def cell_means(sides: Sequence[int], cells: int) -> Tensor:
    """Weights [cells², L] that average over the places of every cell; cells share a row where they do not divide it."""
    rows, columns = (_shares(side, cells) for side in sides)
    return torch.einsum("ih,jw->ijhw", rows, columns).flatten(2).flatten(0, 1)


def _shares(side: int, cells: int) -> Tensor:
    places, at = torch.arange(cells)[:, None], torch.arange(side)
    inside = (at >= places * side // cells) & (at < -(-(places + 1) * side // cells))
    return inside / inside.sum(1, keepdim=True)


class PatchFeatures(nn.Module):
    """φ. Its constants are no part of the network's state: nobody sends what everybody can make."""

    filters: Tensor
    mean: Tensor
    scale: Tensor
    directions: Tensor | None

    def __init__(self, constants: Fixed) -> None:
        super().__init__()
        self.cells, self.threshold = constants.cells, constants.threshold
        for name in ("filters", "mean", "scale", "directions"):
            self.register_buffer(name, getattr(constants, name), persistent=False)

    @property
    def n_features(self) -> int:
        return self.cells**2 * (self.mean if self.directions is None else self.directions).shape[1]

    def forward(self, images: Tensor) -> Tensor:
        z = pooled(images, self.filters, self.cells, self.threshold).sub_(self.mean).div_(self.scale)
        return (z if self.directions is None else z @ self.directions).flatten(1)
