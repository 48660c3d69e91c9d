"""Decode JPEG images of one size into one array of RGB pixels."""

from __future__ import annotations

import io
from collections.abc import Iterable

import numpy as np

from equipoise.core.values import Pixels
from equipoise.data.source import damaged


def decode_images(blobs: Iterable[tuple[str, bytes]], count: int, where: str) -> Pixels:
    """uint8 [count, 3, H, W] from named JPEG files; the first one sets the size, grey ones become RGB."""
    pixels = np.empty((0, 3, 0, 0), np.uint8)
    for i, (name, blob) in enumerate(blobs):
        image = _decode(name, blob, where)
        if i == 0:
            pixels = np.empty((count, *image.shape), np.uint8)
        if image.shape != pixels.shape[1:]:
            raise damaged(where, f"expected {name} to be {pixels.shape[1:]}, found {image.shape}")
        pixels[i] = image
    return pixels


def _decode(name: str, blob: bytes, where: str) -> Pixels:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(blob), formats=("JPEG",)) as image:
            return np.asarray(image.convert("RGB")).transpose(2, 0, 1)
    except (OSError, SyntaxError, ValueError) as error:
        raise damaged(where, f"{name} ({len(blob)} bytes) is not a whole JPEG image ({error})") from error
