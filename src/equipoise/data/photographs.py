"""Two public photographs that are on every machine, scikit-learn's sample images, cut up at several scales.

    photograph → mean over squares of 2, 4, 6, 8 pixels → each channel with mean 0 and deviation 1 → random cuts

Grey for images of one channel; for other numbers of channels, grey in each.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equipoise.core.streams import stream

SHRINKS = (2, 4, 6, 8)
Pixels = NDArray[np.float32]


@lru_cache(maxsize=4)
def scaled(channels: int) -> tuple[Pixels, ...]:
    """Both photographs [C, H, W] at every scale."""
    from sklearn.datasets import load_sample_images

    images = load_sample_images().images  # type: ignore[no-untyped-call]
    return tuple(_shrunk(_coloured(image, channels), by) for image in images for by in SHRINKS)


def _coloured(image: NDArray[np.uint8], channels: int) -> Pixels:
    pixels = np.moveaxis(image.astype(np.float32), 2, 0)
    if channels != 3:
        pixels = np.repeat(pixels.mean(0, keepdims=True), channels, 0)
    found: Pixels = (pixels - pixels.mean((1, 2), keepdims=True)) / pixels.std((1, 2), keepdims=True)
    return found


def _shrunk(pixels: Pixels, by: int) -> Pixels:
    channels, height, width = pixels.shape
    whole = pixels[:, : height // by * by, : width // by * by]
    found: Pixels = whole.reshape(channels, height // by, by, width // by, by).mean((2, 4))
    return found


def photographs(channels: int, size: int, n: int, rng: np.random.Generator) -> Pixels:
    """At least `n` square patches [N, C, size, size], shuffled, equally many of every photograph and scale."""
    return _cuts(channels, (size, size), n, rng)


def crops(channels: int, size: tuple[int, int], n: int) -> Pixels:
    """Cuts as large as an image; a photograph that is smaller is repeated at its edges."""
    return _cuts(channels, size, n, stream(0, "crops"))


def _cuts(channels: int, size: tuple[int, int], n: int, rng: np.random.Generator) -> Pixels:
    everything, sources = [], scaled(channels)
    for source in sources:
        missing = [max(0, side - have) for side, have in zip(size, source.shape[1:], strict=True)]
        padded = np.pad(source, ((0, 0), (0, missing[0]), (0, missing[1])), mode="reflect")
        spots = [
            rng.integers(0, have - side + 1, -(-n // len(sources)))
            for side, have in zip(size, padded.shape[1:], strict=True)
        ]
        everything += [padded[:, y : y + size[0], x : x + size[1]] for y, x in zip(*spots, strict=True)]
    return np.stack([everything[place] for place in rng.permutation(len(everything))])
