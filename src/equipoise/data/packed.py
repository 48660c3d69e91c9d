"""Read images that were packed without loss: subtract-green, MED prediction and xz.

    p = r + clip(left + up − corner, min(left, up), max(left, up))  mod 256

A pixel needs its left, upper and upper-left neighbours, so the prediction is undone one position at a time, for all
images and planes at once. Planes are red − green + 128, green, blue − green + 128.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Pixels
from equipoise.data.source import damaged, read_bytes

CHUNK = 1000
"""Images undone together: few enough that the working rows stay in the processor's cache (2× faster than 10,000)."""


def read_npy_xz(path: Path, n_dims: int) -> Pixels:
    """The uint8 array of a `.npy.xz` file."""
    try:
        array = np.load(io.BytesIO(lzma.decompress(read_bytes(path))), allow_pickle=False)
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise damaged(path, f"it is not a whole .npy.xz file ({error})") from error
    if array.dtype != np.uint8 or array.ndim != n_dims:
        raise damaged(path, f"expected {n_dims} axes of uint8, found shape {array.shape} of {array.dtype}")
    pixels: Pixels = array
    return pixels


def read_labels(path: Path, part: str) -> NDArray[np.uint8]:
    """One array of a `.npz` file of labels."""
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as content:
            labels: NDArray[np.uint8] = content[part]
    except (ValueError, KeyError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise damaged(path, f"it is not a .npz file with an array '{part}' ({error})") from error
    if labels.dtype != np.uint8 or labels.ndim != 1:
        raise damaged(path, f"expected one axis of uint8 labels, found shape {labels.shape} of {labels.dtype}")
    return labels


def read_packed(path: Path) -> Pixels:
    """uint8 [N, 3, H, W] from a packed `.npy.xz` of residual planes [3, N, H, W]."""
    residuals = read_npy_xz(path, n_dims=4)
    if residuals.shape[0] != 3:
        raise damaged(path, f"expected 3 planes, found {residuals.shape[0]}")
    return unpack(residuals)


def unpack(residuals: Pixels) -> Pixels:
    """Residual planes [3, N, H, W] → pixels [N, 3, H, W]."""
    _, n, height, width = residuals.shape
    pixels = np.empty((n, 3, height, width), np.uint8)
    for start in range(0, n, CHUNK):
        planes = _unpredict(residuals[:, start : start + CHUNK])
        planes[:, :, 0] += planes[:, :, 1] - np.uint8(128)
        planes[:, :, 2] += planes[:, :, 1] - np.uint8(128)
        pixels[start : start + CHUNK] = planes.transpose(3, 2, 0, 1)
    return pixels


def _unpredict(residuals: Pixels) -> Pixels:
    """[3, N, H, W] → planes [H, W, 3, N]; a border of zeros lies above and to the left."""
    k, n, height, width = residuals.shape
    turned = residuals.transpose(2, 3, 0, 1).reshape(height, width, k * n).astype(np.int16)
    planes = np.empty((height, width, k * n), np.uint8)
    above = np.zeros((width + 1, k * n), np.int16)
    row = np.zeros_like(above)
    for i in range(height):
        for j in range(width):
            _restore(row[j], above[j + 1], above[j], turned[i, j])
            row[j + 1] = turned[i, j]
        planes[i] = row[1:]
        above, row = row, above
    return planes.reshape(height, width, k, n)


def _restore(
    left: NDArray[np.int16], up: NDArray[np.int16], corner: NDArray[np.int16], residual: NDArray[np.int16]
) -> None:
    """Turn the residual of one position into its value, in place."""
    guess = left + up
    guess -= corner
    np.clip(guess, np.minimum(left, up), np.maximum(left, up), out=guess)
    residual += guess
    residual &= 255
