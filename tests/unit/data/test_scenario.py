from __future__ import annotations

import numpy as np
import pytest

from equipoise.config.blocks import ScenarioOptions
from equipoise.core.streams import stream
from equipoise.data.scenario import blurred, concerned, drawn_shift, noisy_labels, recoloured, rotated


@pytest.fixture
def pixels(rng):
    return rng.integers(0, 256, (6, 3, 8, 8), dtype=np.uint8)


def test_a_share_of_the_labels_becomes_another_class():
    labels = np.arange(1000) % 5
    changed, count = noisy_labels(labels, 5, 0.3, stream(0, "x"))
    assert count == 300 == (changed != labels).sum()
    assert changed.min() >= 0
    assert changed.max() < 5
    moved = (changed - labels)[changed != labels] % 5
    assert np.allclose(np.bincount(moved, minlength=5)[1:] / 300, 1 / 4, atol=0.1)
    assert labels.tolist() == (np.arange(1000) % 5).tolist()


def test_all_labels_or_none():
    labels = np.array([0, 1, 0, 1])
    assert noisy_labels(labels, 2, 1.0, stream(0, "x"))[0].tolist() == [1, 0, 1, 0]
    assert noisy_labels(labels, 2, 0.0, stream(0, "x"))[0].tolist() == labels.tolist()


def test_a_quarter_turn_is_exact(pixels):
    turned = rotated(pixels, 90)
    assert np.array_equal(turned, np.rot90(pixels, axes=(2, 3)))
    assert turned.dtype == np.uint8
    assert np.array_equal(rotated(pixels, 0), pixels)


def test_colour_by_hand():
    pixels = np.array([100, 200, 50], np.uint8).reshape(1, 3, 1, 1)
    changed = recoloured(pixels, np.array([1.5, 1.5, 1.0]), np.array([0.0, 0.0, -0.4]))
    assert changed.reshape(-1).tolist() == [150, 255, 0]


def test_blur_spreads_a_point_within_its_channel():
    pixels = np.zeros((1, 2, 9, 9), np.uint8)
    pixels[0, 0, 4, 4] = 255
    changed = blurred(pixels, 1.0)
    assert changed[0, 0, 4, 4] == round(255 / (2 * np.pi))  # the middle of a Gaussian of σ = 1
    assert changed[0, 0, 4, 5] == changed[0, 0, 3, 4] > 0
    assert not changed[0, 1].any()


@pytest.mark.parametrize("shift", ["rotation", "colour", "blur"])
def test_a_shift_is_drawn_from_its_stream_and_says_what_it_drew(pixels, shift):
    options = ScenarioOptions(shift=shift, strength=1.0)
    first, again, other = (drawn_shift(options, (3, 8, 8), stream(0, "x", client)) for client in (1, 1, 2))
    assert first.kind == shift
    assert first.drawn == again.drawn != other.drawn
    assert np.array_equal(first.apply(pixels), again.apply(pixels))
    assert first.apply(pixels).dtype == np.uint8
    assert first.apply(pixels).shape == pixels.shape
    assert not np.array_equal(first.apply(pixels), pixels)


def test_strength_bounds_what_is_drawn():
    angles = [
        drawn_shift(ScenarioOptions(shift="rotation", strength=0.1), (3, 8, 8), stream(0, "x", k)) for k in range(99)
    ]
    found = np.array([shift.drawn["angle"] for shift in angles])
    assert np.abs(found).max() <= 18
    assert found.min() < -9 < 9 < found.max()
    assert drawn_shift(ScenarioOptions(), (3, 8, 8), stream(0, "x")) is None


def test_one_channel_has_one_gain():
    drawn = drawn_shift(ScenarioOptions(shift="colour"), (1, 8, 8), stream(0, "x")).drawn
    assert len(drawn["gain"]) == len(drawn["offset"]) == 1


def test_who_is_concerned():
    def chosen(share, n):
        return concerned(ScenarioOptions(shift="blur", clients=share), n, 0).tolist()

    assert chosen(1.0, 5) == [0, 1, 2, 3, 4]
    assert len(chosen(0.4, 5)) == 2
    assert len(chosen(0.01, 5)) == 1
    assert chosen(0.4, 5) == sorted(chosen(0.4, 5))
