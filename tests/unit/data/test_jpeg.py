from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.data.jpeg import decode_images

from .writers import jpeg


def test_flat_colours_come_back_and_grey_becomes_three_channels():
    pixels = decode_images([("a", jpeg((10, 200, 90))), ("b", jpeg(77))], 2, "here")
    assert pixels.shape == (2, 3, 8, 8)
    assert np.abs(pixels[0].reshape(3, -1).mean(axis=1) - [10, 200, 90]).max() < 3
    assert (pixels[1] == 77).all()


def test_no_images():
    assert len(decode_images([], 0, "here")) == 0


def test_another_size_is_refused():
    with pytest.raises(DataError, match=r"expected b to be \(3, 8, 8\), found \(3, 16, 16\)"):
        decode_images([("a", jpeg(1)), ("b", jpeg(1, size=16))], 2, "here")


@pytest.mark.parametrize("blob", [b"", b"\x89PNG\r\n\x1a\n", jpeg(1, size=32)[:-200]])
def test_what_is_not_a_whole_jpeg_is_named(blob):
    with pytest.raises(DataError, match=rf"row 3 \({len(blob)} bytes\) is not a whole JPEG"):
        decode_images([("row 3", blob)], 1, "table.parquet")
