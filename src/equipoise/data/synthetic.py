"""Generate images with a known best classifier: one smooth template per class, plus noise.

    x = round(255 · clip(½ + signal·t_c + noise·ε, 0, 1)),   ε ~ N(0, 1) per pixel
    t_c[k, y, x] = Σ_{u,v ∈ 0..2, (u,v) ≠ (0,0)} a_{ckuv} cos(πu(y+½)/S) cos(πv(x+½)/S),   a ~ N(0, 1),   RMS(t_c) = 1

Classes are equally frequent and the noise is the same for all, so the nearest template is the Bayes-optimal answer, up
to clipping and rounding. Between two classes it errs with probability Φ(−signal·‖t_0 − t_1‖ / (2·noise)).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from equipoise.config.blocks import ImageOptions
from equipoise.core.registry import DATASETS
from equipoise.core.streams import stream
from equipoise.core.values import Dataset, Images

FREQUENCIES = 3
CHANNELS = 3


class SyntheticOptions(ImageOptions):
    """What to generate. `generator_seed` is not the run's seed: all runs of a study see the same images."""

    name: str = "synthetic"
    classes: int = Field(10, ge=2, description="number of classes, one template each")
    size: int = Field(8, ge=4, description="height and width of an image")
    train: int = Field(1000, ge=2, description="training images")
    test: int = Field(500, ge=1, description="test images")
    signal: float = Field(0.1, gt=0, description="strength of the templates, of [0, 1] pixels")
    noise: float = Field(0.2, ge=0, description="standard deviation of the noise, of [0, 1] pixels")
    generator_seed: int = Field(0, ge=0, description="seed of templates, labels and noise")


@DATASETS.register("synthetic", options=SyntheticOptions)
def synthetic(options: SyntheticOptions, folder: Path | None) -> Dataset:
    train = _draw(options, "train", options.train)
    test = _draw(options, "test", options.test)
    shares = train.pixels / 255
    mean = tuple(float(value) for value in shares.mean(axis=(0, 2, 3)))
    std = tuple(float(value) for value in shares.std(axis=(0, 2, 3)))
    classes = tuple(f"template {label}" for label in range(options.classes))
    return Dataset("synthetic", train, test, classes, mean, std)


def templates(options: SyntheticOptions) -> NDArray[np.float64]:
    """t: [classes, 3, size, size], root mean square 1 in each class."""
    rng = stream(options.generator_seed, "synthetic-templates")
    waves = np.cos(np.pi * np.outer(np.arange(FREQUENCIES), np.arange(options.size) + 0.5) / options.size)
    amplitudes = rng.standard_normal((options.classes, CHANNELS, FREQUENCIES, FREQUENCIES))
    amplitudes[..., 0, 0] = 0
    smooth = np.einsum("ckuv,uy,vx->ckyx", amplitudes, waves, waves)
    unit: NDArray[np.float64] = smooth / np.sqrt((smooth**2).mean(axis=(1, 2, 3), keepdims=True))
    return unit


def _draw(options: SyntheticOptions, part: str, count: int) -> Images:
    rng = stream(options.generator_seed, "synthetic-images", part)
    labels = rng.permutation(np.arange(count) % options.classes)
    noise = rng.standard_normal((count, CHANNELS, options.size, options.size))
    shares = 0.5 + options.signal * templates(options)[labels] + options.noise * noise
    return Images(np.rint(255 * shares.clip(0, 1)).astype(np.uint8), labels.astype(np.int64))
