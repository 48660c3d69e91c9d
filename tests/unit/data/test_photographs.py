from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.streams import stream
from equipoise.data.photographs import SHRINKS, crops, photographs, scaled


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_both_photographs_are_there_at_every_scale(channels):
    sources = scaled(channels)
    assert len(sources) == 2 * len(SHRINKS)
    assert [source.shape[0] for source in sources] == [channels] * len(sources)
    for source in sources:
        assert abs(source.mean()) < 0.05  # a photograph's mean is 0; a strip may be cut off before it is shrunk
        assert 0.5 < source.std() <= 1.0


def test_a_photograph_in_grey_is_the_same_in_each_channel():
    one, four = scaled(1)[0], scaled(4)[0]
    assert np.array_equal(four, np.repeat(one, 4, 0))


def test_patches_are_cut_out_of_the_photographs():
    found = photographs(3, 5, 16, stream(0, "test"))
    assert found.shape == (16, 3, 5, 5)
    windows = [np.lib.stride_tricks.sliding_window_view(source, (3, 5, 5))[0] for source in scaled(3)]
    for patch in found:
        assert any((window == patch).all((2, 3, 4)).any() for window in windows)


def test_the_same_cuts_every_time():
    assert np.array_equal(crops(1, (8, 8), 8), crops(1, (8, 8), 8))


def test_crops_larger_than_a_photograph():
    assert crops(1, (100, 90), 8).shape == (8, 1, 100, 90)
