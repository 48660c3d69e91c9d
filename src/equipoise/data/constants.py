"""The constants that normalise an image set: mean and standard deviation of each channel, of [0, 1] pixels.

    n_cv = how often value v occurs in channel c of the training images
    mean_c = Σ_v n_cv·(v/255) / Σ_v n_cv        std_c = √(Σ_v n_cv·(v/255)² / Σ_v n_cv − mean_c²)

The counts are whole numbers, so the constants do not depend on the order of the images. A set may give one constant
for all channels, or three: a network always sees three channels, and a single one is repeated.
"""

from __future__ import annotations

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.values import Channels, Dataset, Indices, Pixels

CHUNK = 1000
LENGTHS = (1, 3)


def value_counts(pixels: Pixels) -> Indices:
    """n_cv: [channels, 256]."""
    channels = pixels.shape[1]
    counts = np.zeros((channels, 256), np.int64)
    for start in range(0, len(pixels), CHUNK):
        for channel in range(channels):
            counts[channel] += np.bincount(pixels[start : start + CHUNK, channel].reshape(-1), minlength=256)
    return counts


def constants_of(counts: Indices) -> tuple[Channels, Channels]:
    """mean_c and std_c.

    >>> counts = np.zeros((1, 256), np.int64)
    >>> counts[0, [0, 255]] = 5
    >>> constants_of(counts)
    ((0.5,), (0.5,))
    """
    values, shares = np.arange(256) / 255, counts / counts.sum(axis=1, keepdims=True)
    mean = shares @ values
    std = np.sqrt(np.maximum(shares @ values**2 - mean**2, 0))
    return tuple(mean.tolist()), tuple(std.tolist())


def measured(pixels: Pixels, where: str) -> tuple[Channels, Channels]:
    """The constants of training images; a channel that never varies cannot be normalised."""
    counts = value_counts(pixels)
    for channel, row in enumerate(counts):
        if np.count_nonzero(row) == 1:
            what = f"every training pixel of channel {channel} is {row.argmax()}: there is nothing to learn from it"
            raise DataError(what, where=where, fix="check how the images were made, or remove the channel")
    return constants_of(counts)


def require_constants(dataset: Dataset) -> None:
    """Refuse channels that no network sees, and constants that do not belong to them."""
    where = f"data '{dataset.name}'"
    channels = dataset.train.pixels.shape[1]
    if channels not in LENGTHS:
        what = f"the images have {channels} channels; networks see one (repeated) or three"
        raise DataError(what, where=where, fix="convert the images to greyscale or RGB")
    n_mean, n_std = len(dataset.mean), len(dataset.std)
    if n_mean != n_std or n_mean not in LENGTHS:
        what = f"images of {channels} channels have {n_mean} means and {n_std} standard deviations"
        raise DataError(what, where=where, fix="give one of each for all channels, or one of each per channel")
    if not all(np.isfinite(dataset.mean)) or not all(0 < value < np.inf for value in dataset.std):
        what = f"mean {dataset.mean} and standard deviation {dataset.std} cannot normalise pixels"
        raise DataError(what, where=where, fix="give finite means, and standard deviations above 0")
