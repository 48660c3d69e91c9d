"""Draws the random numbers of augmented views, on the CPU.

    crop:     area ~ H·W · U(.2, 1), width / height ~ exp U(log ¾, log 4⁄3), corner ~ U; the first of ten that fits
    flip:     with probability .5
    jitter:   with probability .8: brightness, contrast, saturation ~ U(.6, 1.4), hue ~ U(−.1, .1) of a turn
    grey:     with probability .2

The generator gives the same numbers in the same order as to kornia's `RandomResizedCrop`, `RandomHorizontalFlip`,
`ColorJitter` and `RandomGrayscale`, and every operation rounds as kornia's does: tests compare the bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Mask

Singles = NDArray[np.float32]
Affine = tuple[Singles, Singles]
"""Scale and offset per axis."""

AREA, ASPECT = (0.2, 1.0), (3 / 4, 4 / 3)
CANDIDATES = 10
FLIP, JITTER, GREY = 0.5, 0.8, 0.2
FACTOR, HUE_TURN = 0.4, 0.1
BRIGHTNESS, CONTRAST, SATURATION, HUE = range(4)


@dataclass(frozen=True)
class Draws:
    """The numbers of N views. Coordinates are those of `grid_sample`: −1 and 1 are the outermost pixels."""

    x: Singles
    """[N, W]: where the columns of a view lie in its image; a flipped view has them in reverse."""
    y: Singles
    """[N, H]: where its rows lie."""
    factors: Singles
    """[4, N]: brightness, contrast, saturation, and hue in radians."""
    steps: tuple[int, ...]
    """The order of the colour steps, common to all views."""
    is_jittered: Mask
    is_grey: Mask


def drawn(seed: int, n: int, height: int, width: int) -> Draws:
    """The numbers of `n` views, from a generator of their own: torch's global one is not touched."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    uniform = torch.rand((2 * CANDIDATES + 8) * n, generator=generator).numpy()
    steps = torch.randperm(4, generator=generator).tolist()
    is_grey = torch.rand(n, generator=generator).numpy() < GREY

    candidates, rest = np.split(uniform, [2 * CANDIDATES * n])
    corner_x, corner_y, flip, jitter, brightness, contrast, hue, saturation = rest.reshape(8, n)
    full = np.array([[width], [height]], np.float32)
    size = _sizes(candidates.reshape(2, n, CANDIDATES), full)
    start = np.floor(np.stack([corner_x, corner_y]) * (full - size + 1))
    x, y = _coordinates(start, size, full)

    low, span = _bounds(1, FACTOR)
    factors = np.stack([brightness, contrast, saturation, hue])
    factors[:HUE] = factors[:HUE] * span + low
    low, span = _bounds(0, HUE_TURN)
    factors[HUE] = (hue * span + low) * 2 * math.pi
    if not factors[HUE].any():  # kornia leaves out a step without effect, and only hue would change the last bits
        steps.remove(HUE)
    return Draws(np.where(flip[:, None] < FLIP, x[:, ::-1], x), y, factors, tuple(steps), jitter < JITTER, is_grey)


def _bounds(centre: float, reach: float) -> tuple[np.float32, np.float32]:
    """The lower end and the length of centre ± reach."""
    low, high = np.float32(centre) - np.float32(reach), np.float32(centre) + np.float32(reach)
    return low, high - low


def _sizes(uniform: Singles, full: Singles) -> Singles:
    """Widths and heights of crops [2, N]: the first candidate of each view that lies within the image."""
    import torch

    low, span = _log_aspects()
    smallest = np.float32(AREA[0])
    area = (uniform[0] * (np.float32(AREA[1]) - smallest) + smallest) * full[1] * full[0]
    aspect = torch.exp(torch.from_numpy(uniform[1] * span + low)).numpy()
    sizes = np.rint(np.sqrt(np.stack([area * aspect, area / aspect])))
    fits = ((sizes > 0) & (sizes <= full[:, :, None])).all(axis=0)
    views, first = np.arange(len(area)), fits.argmax(axis=1)
    found = np.where(fits[views, first], sizes[:, views, first], _widest(full))
    return np.clip(found, 1, full)


def _widest(full: Singles) -> Singles:
    """The largest crop [2, 1] of a permitted aspect; views take it if no candidate fits."""
    width, height = full
    narrowest, widest = np.array(ASPECT, np.float32)
    return np.stack([np.minimum(width, np.rint(height * widest)), np.minimum(height, np.rint(width / narrowest))])


def _coordinates(start: Singles, size: Singles, full: Singles) -> tuple[Singles, Singles]:
    """Where the pixels of crops lie, for `grid_sample`: x [N, W] and y [N, H] of boxes [2, N].

    kornia solves for the map from the pixels of a crop to those of its view, normalises it to [−1, 1] and inverts it.
    Its matrices hold a scale and an offset per axis, and zeros; the zeros are left out here.
    """
    is_point = size == 1
    has_points = is_point.any()
    scale, offset = (_point_map if has_points else _pixel_map)(start, size, full)
    (unit, shift), (back, back_shift) = _normalised(*full[:, 0].tolist())
    offset = unit * (scale * back_shift + offset) + shift
    scale, offset = _inverse(unit * (scale * back), offset)
    lines = [scale[axis, :, None] * _line(int(full[axis, 0])) + offset[axis, :, None] for axis in range(2)]
    if has_points:  # a crop of one pixel repeats it
        lines = [np.where(point[:, None], line[:, :1], line) for point, line in zip(is_point, lines, strict=True)]
    return lines[0], lines[1]


def _pixel_map(start: Singles, size: Singles, full: Singles) -> Affine:
    """From a crop to its view, corner to corner."""
    scale, offset = _inverse(size - 1, start)
    return (full - 1) * scale, (full - 1) * offset


def _point_map(start: Singles, size: Singles, full: Singles) -> Affine:
    """The same where some crops are one pixel wide or high: these are only moved along that axis."""
    is_point = size == 1
    solved, moved = _pixel_map(start, np.where(is_point, 2, size), full)
    scale = np.where(is_point, 1, (full - 1) / np.where(is_point, 1, size - 1))
    has_point = is_point.any(axis=0)
    return np.where(has_point, scale, solved), np.where(has_point, -(scale * start), moved)


def _inverse(scale: Singles, offset: Singles) -> Affine:
    """Of pixel ↦ scale · pixel + offset on two axes, as adjugate / determinant."""
    other = scale[::-1]
    determinant = scale * other
    return other / determinant, -(other * offset) / determinant


@lru_cache
def _normalised(*full: float) -> tuple[Affine, Affine]:
    """The map [2, 1] of pixels to [−1, 1], and back; a single pixel lies at 0."""
    scale = np.array([[2 / (size - 1) if size > 1 else 1] for size in full], np.float32)
    offset = np.array([[-1 if size > 1 else 0] for size in full], np.float32)
    return (scale, offset), _inverse(scale, offset)


@lru_cache
def _line(length: int) -> Singles:
    import torch

    return torch.linspace(-1, 1, length).numpy() if length > 1 else np.zeros(1, np.float32)


@lru_cache
def _log_aspects() -> tuple[np.float32, np.float32]:
    """The lower end and the length of the logarithms of permitted aspects."""
    import torch

    low, high = torch.log(torch.tensor(ASPECT)).numpy()
    return low, high - low
