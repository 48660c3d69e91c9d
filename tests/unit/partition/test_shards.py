import numpy as np
import pytest

from equipoise.core.errors import PartitionError
from equipoise.core.streams import stream
from equipoise.partition.divide import count
from equipoise.partition.shards import ShardsOptions, shards

LABELS = np.tile(np.arange(10), 60)


def test_shards_that_fit_the_classes_give_at_most_s_classes_each():
    # 10 clients × 2 shards = 20 shards of 30: two to a class of 60
    table = count(shards(LABELS, 10, ShardsOptions(clients=10), stream(0, "test")), LABELS, 10)
    assert table.sum(axis=1).tolist() == [60] * 10
    assert ((table > 0).sum(axis=1) <= 2).all()
    assert set(table.ravel().tolist()) <= {0, 30, 60}


def test_a_shard_that_straddles_brings_two_classes():
    # 3 shards of 4 over two classes of 6: the middle one has two of each
    labels = np.repeat([0, 1], 6)
    table = count(shards(labels, 2, ShardsOptions(clients=3, classes_per_client=1), stream(0, "t")), labels, 2)
    assert sorted(table.tolist()) == [[0, 4], [2, 2], [4, 0]]


def test_every_client_may_get_any_shard():
    labels = np.repeat([0, 1, 2], 4)
    options = ShardsOptions(clients=3, classes_per_client=1)
    owners = {labels[shards(labels, 3, options, stream(seed, "t"))[0][0]] for seed in range(30)}
    assert owners == {0, 1, 2}


def test_more_shards_than_samples_is_an_error_with_the_numbers():
    with pytest.raises(PartitionError) as caught:
        shards(np.zeros(9, dtype=np.int64), 1, ShardsOptions(clients=5, classes_per_client=2), stream(0, "t"))
    assert "5 clients with 2 shards each need 10 samples, there are 9" in str(caught.value)
    assert "partition.classes_per_client" in caught.value.fix


def test_as_many_shards_as_samples_is_one_sample_each():
    lists = shards(np.zeros(10, dtype=np.int64), 1, ShardsOptions(clients=5), stream(0, "t"))
    assert [len(index) for index in lists] == [2] * 5
