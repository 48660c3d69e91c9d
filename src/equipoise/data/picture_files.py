"""Decode picture files of one size into one array, with Pillow.

    modes 1, L, LA → greyscale;  all others → RGB, and then all pictures are RGB

Headers are read first, so that mixed sizes and 16-bit files are refused before anything is decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.values import Pixels

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
GREY = {"1", "L", "LA"}
DEEP = ("I", "F")
"""First letters of Pillow's modes with more than eight bits per value."""
Mode = Literal["L", "RGB"]


def decode_pictures(files: Sequence[Path], size: int | None) -> Pixels:
    """uint8 [N, 1 or 3, H, W]; with `size` every picture is resized to that square, bilinearly."""
    modes, sizes = zip(*(_header(path) for path in files), strict=True)
    mode: Mode = "L" if set(modes) <= GREY else "RGB"
    if size is None:
        _require_one_size(files, sizes)
    width, height = sizes[0] if size is None else (size, size)
    pixels = np.empty((len(files), 1 if mode == "L" else 3, height, width), np.uint8)
    for i, path in enumerate(files):
        pixels[i] = _decoded(path, mode, (width, height))
    return pixels


def _header(path: Path) -> tuple[str, tuple[int, int]]:
    from PIL import Image

    try:
        with Image.open(path) as image:
            mode, size = image.mode, image.size
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise _broken(path, error) from error
    if mode.startswith(DEEP):
        what = f"{path.name} has more than 8 bits per pixel (mode {mode})"
        raise DataError(what, where=str(path), fix="convert the images to 8 bits, scaled to 0 … 255")
    return mode, size


def _require_one_size(files: Sequence[Path], sizes: Sequence[tuple[int, int]]) -> None:
    counts = Counter(sizes)
    if len(counts) == 1:
        return
    usual = counts.most_common(1)[0][0]
    odd = next(i for i, size in enumerate(sizes) if size != usual)
    (width, height), (other_width, other_height) = usual, sizes[odd]
    what = (
        f"images have {len(counts)} sizes: {counts[usual]} of {len(files)} are {width}×{height}, "
        f"{files[odd].name} is {other_width}×{other_height}"
    )
    raise DataError(what, where=str(files[odd]), fix="bring all images to one size, or set data.size=32 to resize them")


def _decoded(path: Path, mode: Mode, size: tuple[int, int]) -> Pixels:
    from PIL import Image

    try:
        with Image.open(path) as image:
            picture = image.convert(mode)
    except (OSError, SyntaxError, ValueError) as error:
        raise _broken(path, error) from error
    if picture.size != size:
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    array = np.asarray(picture, dtype=np.uint8)
    return array[None] if mode == "L" else array.transpose(2, 0, 1)


def _broken(path: Path, error: Exception) -> DataError:
    what = f"{path.parent.name}/{path.name} ({path.stat().st_size} bytes) is not a whole image ({error})"
    return DataError(what, where=str(path), fix="replace the file, or remove it")
