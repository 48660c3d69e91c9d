from __future__ import annotations

import numpy as np

from equipoise.core.values import Images
from equipoise.data.fixed_test import held_out, parted


def test_a_share_of_each_class_is_held_out():
    labels = np.repeat([0, 1, 2], [10, 20, 5])
    chosen = held_out(labels, 3, 0.2, "toy")
    assert np.bincount(labels[chosen]).tolist() == [2, 4, 1]
    assert (np.diff(chosen) > 0).all()


def test_every_class_keeps_an_image_on_both_sides():
    labels = np.array([0, 0, 1, 1, 1])
    for share in (0.01, 0.99):
        test = held_out(labels, 2, share, "toy")
        assert set(labels[test]) == set(np.delete(labels, test)) == {0, 1}


def test_the_draw_is_fixed_and_belongs_to_its_purpose():
    labels = np.zeros(50, np.int64)
    assert held_out(labels, 1, 0.2, "a").tolist() == held_out(labels, 1, 0.2, "a").tolist()
    assert held_out(labels, 1, 0.2, "a").tolist() != held_out(labels, 1, 0.2, "b").tolist()


def test_train_and_test_are_the_whole():
    images = Images(np.zeros((9, 1, 2, 2), np.uint8), np.arange(9) % 3)
    images.pixels[:, 0, 0, 0] = np.arange(9)
    train, test = parted(images, 3, 0.3, "toy")
    assert sorted([*train.pixels[:, 0, 0, 0], *test.pixels[:, 0, 0, 0]]) == list(range(9))
    assert len(test) == 3
