from __future__ import annotations

import numpy as np
import pytest

from equipoise.client.batches import batches


@pytest.mark.parametrize("n_samples", [1, 2, 7, 8, 9, 31, 33, 64])
@pytest.mark.parametrize("size", [1, 2, 8, 100])
def test_every_image_exactly_once(n_samples, size, seed):
    epoch = batches(n_samples, size, seed, epoch=0, client=0)
    assert sorted(np.concatenate(epoch).tolist()) == list(range(n_samples))


@pytest.mark.parametrize(
    ("n_samples", "size", "sizes"),
    [
        (64, 32, [32, 32]),
        (70, 32, [32, 32, 6]),
        (65, 32, [32, 33]),  # the last one on its own joins
        (33, 32, [33]),
        (32, 32, [32]),
        (5, 32, [5]),
        (1, 32, [1]),  # there is nobody to join
        (3, 1, [1, 1, 1]),  # batches of one were asked for
        (3, 2, [3]),
    ],
)
def test_the_last_batch_is_kept(n_samples, size, sizes, seed):
    assert [len(batch) for batch in batches(n_samples, size, seed, epoch=0, client=0)] == sizes


def test_another_order_each_epoch_and_for_each_client(seed):
    orders = {
        (epoch, client): np.concatenate(batches(50, 8, seed, epoch, client)).tolist()
        for epoch in range(3)
        for client in range(3)
    }
    assert len({tuple(order) for order in orders.values()}) == 9
    assert np.concatenate(batches(50, 8, seed, 1, 2)).tolist() == orders[1, 2]
    assert np.concatenate(batches(50, 8, seed + 1, 1, 2)).tolist() != orders[1, 2]


def test_the_batch_size_does_not_change_the_order(seed):
    assert np.concatenate(batches(50, 8, seed, 0, 0)).tolist() == np.concatenate(batches(50, 5, seed, 0, 0)).tolist()
