"""Turn stored pixels into what a network sees: [0, 255] → [0, 1] → per-sample augmentation → normalise.

    normalise(x) = (x/255 − mean) / std        mean and std: three numbers, or one for all channels
    two views: RandomResizedCrop(scale .2–1) → flip .5 → colour jitter (.4, .4, .4, .1) p .8 → grayscale p .2
    brightness: b·x      contrast: c·x + (1 − c)·mean(grey(x))      saturation: s·x + (1 − s)·grey(x)      hue + angle

Every image of every view draws its own numbers (`views.py`); only the order of the four colour steps is common to a
call. On the CPU the result equals that of kornia's pipeline to the last bit. On another device everything that was
drawn arrives by one copy, and no step makes the host wait. Torch is imported where it is used, so that reading files
does not need it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from equipoise.core.values import Channels
from equipoise.data.views import BRIGHTNESS, CONTRAST, HUE, Draws, drawn

if TYPE_CHECKING:
    from torch import Tensor

CPU = "cpu"
WEIGHTS = (0.299, 0.587, 0.114)
"""Of red, green and blue in grey."""
TURN = 2 * math.pi
TINY = 1.1754944e-38
"""The least normal float32. No two channels of a pixel differ by less without being equal."""


def normalise(pixels: Tensor, mean: Channels, std: Channels) -> Tensor:
    """uint8 [B, 1 or 3, H, W] → float32 [B, 3, H, W]."""
    shares = _shares(pixels)
    three = shares if shares.shape[1] == 3 else shares.expand(-1, 3, -1, -1).contiguous()
    return _standardised(three, *_constants(str(shares.device), mean, std))


def two_views(pixels: Tensor, mean: Channels, std: Channels, seed: int) -> Tensor:
    """uint8 [B, 1 or 3, H, W] → float32 [2B, 3, H, W]: a first view of each image, then a second of each.

    All draws come from `seed`; torch's global generator is left as it was.
    """
    shares = _shares(pixels)
    draws = drawn(seed, 2 * len(shares), *shares.shape[2:])
    applied = _grouped if shares.device.type == CPU else _together
    return applied(shares, draws, _constants(CPU, WEIGHTS, mean, std))


def _shares(pixels: Tensor) -> Tensor:
    """Pixels in [0, 1]. Only stored bytes are accepted, so that nothing is scaled twice."""
    import torch

    if pixels.dtype != torch.uint8 or pixels.ndim != 4 or pixels.shape[1] not in (1, 3):
        raise TypeError(f"expected uint8 [B, 1 or 3, H, W] pixels, got {pixels.dtype} {tuple(pixels.shape)}")
    return pixels.to(torch.float32).div_(255)


def _standardised(shares: Tensor, centre: Tensor, spread: Tensor) -> Tensor:
    """Normalise in place: no caller keeps `shares`. One constant serves all channels."""
    return shares.sub_(centre).div_(spread)


@lru_cache
def _constants(device: str, *channels: Channels) -> tuple[Tensor, ...]:
    import torch

    made = tuple(torch.tensor(values, dtype=torch.float32).view(-1, 1, 1) for values in channels)
    return made if device == CPU else _sent(made, device)


def _sent(tensors: tuple[Tensor, ...], device: str) -> tuple[Tensor, ...]:
    """By one copy, for which the host does not wait."""
    from equipoise.core.device import device_of

    return device_of(device).there(tensors)


def _grouped(shares: Tensor, draws: Draws, constants: tuple[Tensor, ...]) -> Tensor:
    """On the CPU: views that take the same steps lie side by side, and a step computes no others."""
    import torch

    weights, centre, spread = constants
    # in this order: jittered, jittered and grey, grey, neither
    group = np.where(draws.is_jittered, draws.is_grey, 3 - draws.is_grey)
    coloured, jittered, changed, _ = np.cumsum(np.bincount(group, minlength=4)).tolist()
    order = np.argsort(group, kind="stable")
    image = np.tile(np.arange(len(shares)), 2)[order]

    x, y, factors = map(torch.from_numpy, (draws.x[order], draws.y[order], draws.factors[:, order]))
    views = _cropped(shares.index_select(0, torch.from_numpy(image)), x, y)
    _jitter_(views[:jittered], factors[:, :jittered], draws.steps, weights)
    views[coloured:changed] = _grey(views[coloured:changed], weights)
    back = torch.from_numpy(np.argsort(order))
    return _standardised(views.expand(-1, 3, -1, -1).index_select(0, back), centre, spread)


def _together(shares: Tensor, draws: Draws, constants: tuple[Tensor, ...]) -> Tensor:
    """On other devices: a step computes all views, and a weight of 0 or 1 selects. No shape depends on the draws."""
    import torch

    selected = np.stack([draws.is_jittered, draws.is_grey]).astype(np.float32)
    numbers = map(torch.from_numpy, (draws.x, draws.y, draws.factors, selected))
    x, y, factors, selection, weights, centre, spread = _sent((*numbers, *constants), str(shares.device))
    is_jittered, is_grey = selection[:, :, None, None, None].unbind()
    views = _cropped(shares.repeat(2, 1, 1, 1), x, y)
    views.lerp_(_jitter_(views.clone(), factors, draws.steps, weights), is_jittered)
    views.lerp_(_grey(views, weights), is_grey)
    return _standardised(views.expand(-1, 3, -1, -1).contiguous(), centre, spread)


def _cropped(images: Tensor, x: Tensor, y: Tensor) -> Tensor:
    from torch.nn.functional import grid_sample

    grid = x.new_empty(len(x), 2, y.shape[1], x.shape[1])
    grid[:, 0] = x.unsqueeze(1)
    grid[:, 1] = y.unsqueeze(2)
    return grid_sample(images, grid.permute(0, 2, 3, 1), align_corners=True)


def _grey(views: Tensor, weights: Tensor) -> Tensor:
    red, green, blue = views.expand(-1, 3, -1, -1).unbind(1)
    of_red, of_green, of_blue = weights.unbind()
    return (red * of_red).addcmul_(green, of_green).addcmul_(blue, of_blue).unsqueeze(1)


def _jitter_(views: Tensor, factors: Tensor, steps: tuple[int, ...], weights: Tensor) -> Tensor:
    """In place: brightness, contrast, saturation and hue in the order of `steps`."""
    views.clamp_(0, 1)
    for step in steps:
        factor = factors[step].view(-1, 1, 1, 1)
        if step == HUE:
            _turn_hue_(views, factor.squeeze(1))
        elif step == BRIGHTNESS:
            views.mul_(factor).clamp_(0, 1)
        else:
            grey = _grey(views, weights)
            other = grey.mean((-2, -1), keepdim=True) if step == CONTRAST else grey
            views.mul_(factor).add_(other.mul_(1 - factor)).clamp_(0, 1)
    return views


def _turn_hue_(views: Tensor, angle: Tensor) -> None:
    """In place, for v the largest channel, s its share above the least, and h the hue in sixths of a turn:

        red, green, blue = v·(1 + s·k)      k = max(1 − h, h − 5), min(h − 1, 3 − h), min(h − 3, 5 − h) within [−1, 0]

    One channel has no hue.
    """
    import torch

    if views.shape[1] == 1:
        return
    top = views.amax(1)
    delta = top - views.amin(1)
    share = delta / (top + 1e-8)
    below = top.unsqueeze(1) - views
    hue = _hue(below, delta.clamp_min_(TINY)).mul_(TURN).add_(angle)
    hue.sub_((hue / TURN).floor_(), alpha=TURN).div_(TURN).mul_(6)
    red, green, blue = below.unbind(1)
    torch.maximum(1 - hue, hue - 5, out=red)
    torch.minimum(hue - 1, 3 - hue, out=green)
    torch.minimum(hue - 3, 5 - hue, out=blue)
    torch.mul(below.clamp_(-1, 0).mul_(share.unsqueeze(1)).add_(1), top.unsqueeze(1), out=views)


def _hue(below: Tensor, delta: Tensor) -> Tensor:
    """In turns, from how far each channel is below the largest; the first largest channel counts."""
    red, green, blue = below.unbind(1)
    hue = (red - blue).add_(delta, alpha=2).lerp_((green - red).add_(delta, alpha=4), green.sign())
    hue = (blue - green).lerp_(hue, red.sign()).div_(delta).div_(6)
    return hue.sub_(hue.floor()).frac_()
