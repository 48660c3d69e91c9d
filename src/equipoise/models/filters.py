"""Fixed random filters: an encoder that is never trained and is the same for all who know the seed.

    r_jp(x) = w_j·(patch_p − mean) / √(‖patch_p − mean‖² + ε·n)        w_j: N(0, 1) of n entries, centred, length 1
    φ(x) = mean over each quarter of the image of (relu r, relu −r) ∈ R^{8·filters}

Source: Coates, Ng, Lee, "An Analysis of Single-Layer Networks in Unsupervised Feature Learning", 2011, with random
instead of learned filters.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.core.streams import stream_seed
from equipoise.models.classifier import Classifier
from equipoise.models.settings import FiltersOptions

SIZE, EPSILON = 6, 0.1
N_FILTERS = FiltersOptions().filters
QUARTERS = 2


class RandomFilters(nn.Module):
    """φ. The filters are a buffer, drawn from torch's global generator."""

    filters: Tensor

    def __init__(self, n_filters: int, channels: int) -> None:
        super().__init__()
        drawn = torch.randn(n_filters, channels, SIZE, SIZE)
        centred = drawn - drawn.mean((1, 2, 3), keepdim=True)
        self.register_buffer("filters", centred / centred.flatten(1).norm(dim=1)[:, None, None, None])

    def forward(self, images: Tensor) -> Tensor:
        """φ of a batch; images smaller than a filter are padded with zeros."""
        missing = [max(0, SIZE - size) for size in (images.shape[3], images.shape[2])]
        images = F.pad(images, (0, missing[0], 0, missing[1]))
        box = torch.ones_like(self.filters[:1])
        n = box.numel()
        mean = F.conv2d(images, box) / n
        variance = (F.conv2d(images.square(), box) / n - mean.square()).clamp_min(0)
        response = F.conv2d(images, self.filters) / (n * (variance + EPSILON)).sqrt()
        return F.adaptive_avg_pool2d(torch.cat([response.relu(), (-response).relu()], 1), QUARTERS).flatten(1)


def common_filters(channels: int, seed: int) -> RandomFilters:
    """The filters that all clients and the server draw identically from the run's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(stream_seed(seed, "common-filters"))
        common = RandomFilters(N_FILTERS, channels)
    common.filters = common.filters.contiguous(memory_format=torch.channels_last)
    return common


def common_encoder(shape: tuple[int, ...], seed: int) -> nn.Module:
    return common_filters(shape[0], seed)


def filters(options: FiltersOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    """A linear head on fixed random filters."""
    features = 2 * QUARTERS**2 * options.filters
    return Classifier(RandomFilters(options.filters, shape[0]), features, n_classes)
