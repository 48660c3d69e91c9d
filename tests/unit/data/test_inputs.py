from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from equipoise.data.inputs import PixelInputs
from tests.conftest import untouched_rng

INPUTS = PixelInputs((0.0, 0.2, 1.0), (1.0, 0.5, 2.0))
ONE_CHANNEL = np.full((2, 1, 4, 4), 51, np.uint8)


def test_what_a_network_takes_by_hand():
    """(x/255 − mean) / std of each channel; one channel is repeated to three."""
    found = INPUTS.prepare(ONE_CHANNEL)
    assert found.shape == (2, 3, 4, 4)
    assert found.dtype == torch.float32
    assert found[0, :, 0, 0].tolist() == pytest.approx([0.2, 0.0, (0.2 - 1) / 2], abs=1e-6)
    assert ONE_CHANNEL.max() == 51


def test_the_shape_is_what_prepare_gives():
    for stored in (ONE_CHANNEL, np.zeros((1, 3, 5, 7), np.uint8)):
        assert INPUTS.shape(stored) == tuple(INPUTS.prepare(stored).shape[1:])


def test_two_views_of_each_first_all_first_ones(rng):
    stored = rng.integers(0, 256, (5, 3, 8, 8), dtype=np.uint8)
    with untouched_rng():
        views = INPUTS.two_views(stored, 3)
    assert views.shape == (10, 3, 8, 8)
    assert torch.equal(views, INPUTS.two_views(stored, 3))
    assert not torch.equal(views, INPUTS.two_views(stored, 4))
    assert not torch.equal(views[:5], views[5:])


def test_samples_without_content_are_noise_like_what_is_stored():
    drawn = INPUTS.without_content(np.random.default_rng(0), 50, ONE_CHANNEL)
    assert (drawn.shape, drawn.dtype) == ((50, 1, 4, 4), np.uint8)
    assert drawn.mean() == pytest.approx(255 / 2, rel=0.1)
    assert drawn.min() < 10
    assert drawn.max() > 245


def test_facts_make_the_same_inputs_on_another_machine():
    """Through JSON, which has no tuples."""
    assert PixelInputs(**json.loads(json.dumps(INPUTS.facts()))) == INPUTS
