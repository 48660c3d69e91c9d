"""Turn stored pixels into what a network sees: [0, 255] → [0, 1] → per-sample augmentation → normalise.

    normalise(x) = (x/255 − mean) / std        mean and std: three numbers, or one for all channels
    two views: RandomResizedCrop(scale .2–1) → flip .5 → colour jitter (.4, .4, .4, .1) p .8 → grayscale p .2

Every image of every view draws its own numbers; only the order of the four colour steps is common to a call. Torch and
kornia are imported where they are used, so that reading files needs neither.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from equipoise.core.values import Channels

if TYPE_CHECKING:
    from torch import Tensor


def normalise(pixels: Tensor, mean: Channels, std: Channels) -> Tensor:
    """uint8 [B, 1 or 3, H, W] → float32 [B, 3, H, W]."""
    return _standardised(_shares(pixels), mean, std)


def two_views(pixels: Tensor, mean: Channels, std: Channels, seed: int) -> Tensor:
    """uint8 [B, 1 or 3, H, W] → float32 [2B, 3, H, W]: a first view of each image, then a second of each.

    All draws come from `seed`; torch's global generator is left as it was.
    """
    import torch

    shares = _shares(pixels)
    height, width = shares.shape[2:]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.default_generator.manual_seed(seed)
        views = _pipeline(height, width)(torch.cat([shares, shares]))
    return _standardised(views, mean, std)


def _shares(pixels: Tensor) -> Tensor:
    """Pixels in [0, 1], three channels. Only stored bytes are accepted, so that nothing is scaled twice."""
    import torch

    if pixels.dtype != torch.uint8 or pixels.ndim != 4 or pixels.shape[1] not in (1, 3):
        raise TypeError(f"expected uint8 [B, 1 or 3, H, W] pixels, got {pixels.dtype} {tuple(pixels.shape)}")
    return pixels.expand(-1, 3, -1, -1).to(torch.float32).div_(255)


def _standardised(shares: Tensor, mean: Channels, std: Channels) -> Tensor:
    """Normalise in place: no caller keeps `shares`. One constant serves all channels."""
    centre, spread = (shares.new_tensor(values).view(1, -1, 1, 1) for values in (mean, std))
    return shares.sub_(centre).div_(spread)


@lru_cache
def _pipeline(height: int, width: int) -> Callable[[Tensor], Tensor]:
    import kornia.augmentation as K
    from torch.nn import Sequential

    return Sequential(
        # The resample mode warps the whole batch at once; the default crops image by image, twice as slow.
        K.RandomResizedCrop((height, width), scale=(0.2, 1.0), cropping_mode="resample"),
        K.RandomHorizontalFlip(p=0.5),
        K.ColorJitter(0.4, 0.4, 0.4, 0.1, p=0.8),
        K.RandomGrayscale(p=0.2),
    )
