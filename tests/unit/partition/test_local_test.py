from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.partition.divide import divide
from equipoise.partition.local_test import local_tests

LABELS = np.arange(101) % 4


def partition(name="dirichlet", **options):
    return divide(LABELS, 4, SPLITTERS.find(name).options(**{"clients": 5, **options}), 0)


def test_every_client_holds_out_a_share_of_its_own():
    whole = partition()
    train, test = local_tests(whole, 0.25, 3)
    for index, kept, held in zip(whole.indices, train, test, strict=True):
        assert sorted([*kept, *held]) == index.tolist()
        assert len(held) == max(1, round(0.25 * len(index)))
        assert (np.diff(kept) > 0).all()
        assert (np.diff(held) > 0).all()


def test_both_sides_keep_an_image_whatever_the_share():
    for share in (0.001, 0.999):
        train, test = local_tests(partition(min_size=2), share, 0)
        assert min(map(len, [*train, *test])) >= 1


def test_a_client_draws_from_its_own_stream():
    first, again, other = (local_tests(partition(), 0.3, seed)[1] for seed in (1, 1, 2))
    assert [index.tolist() for index in first] == [index.tolist() for index in again]
    assert [index.tolist() for index in first] != [index.tolist() for index in other]


def test_no_share_holds_out_nothing():
    whole = partition()
    train, test = local_tests(whole, 0.0, 0)
    assert train is whole.indices
    assert len(test) == 0


@pytest.mark.parametrize("name", ["drawn", "fafi-overlap"])
def test_clients_that_share_images_cannot(name):
    with pytest.raises(PartitionError, match="what one holds out, another trains on") as caught:
        local_tests(partition(name), 0.2, 0)
    assert caught.value.where == "data.local_test"


def test_one_image_cannot_be_on_both_sides():
    whole = divide(np.arange(5) % 2, 2, SPLITTERS.find("iid").options(clients=5, min_size=1), 0)
    with pytest.raises(PartitionError, match="5 clients have one image, as client 0"):
        local_tests(whole, 0.2, 0)
