import numpy as np
import pytest

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.partition.check import Check, examine, require_partition
from equipoise.partition.fafi_overlap import FafiOverlapOptions

LABELS = np.array([0, 0, 1, 1, 2])


def lists(*clients):
    return [np.array(client, dtype=np.int64) for client in clients]


def test_a_partition_is_disjoint_covering_and_keeps_the_labels():
    assert examine(lists([0, 2], [1, 3, 4]), LABELS, 3) == Check(True, True, True, 0.0, 0.0, 2)


def test_overlap_is_the_share_of_samples_with_two_clients_or_more():
    # samples 1 and 3 are held twice and three times: 2 of 5
    found = examine(lists([0, 1, 3], [1, 2, 3], [3, 4]), LABELS, 3)
    assert found == Check(False, True, False, 2 / 5, 0.0, 2)


def test_a_gap_is_the_share_of_samples_nobody_holds():
    assert examine(lists([0], [3]), LABELS, 3) == Check(True, False, False, 0.0, 3 / 5, 1)


def test_equal_label_counts_do_not_hide_an_overlap_with_a_gap():
    # sample 1 twice, sample 0 never, both of class 0
    found = examine(lists([1, 2], [1, 3, 4]), LABELS, 3)
    assert found == Check(False, False, True, 1 / 5, 1 / 5, 2)


def test_no_clients_hold_nothing():
    assert examine([], LABELS, 3) == Check(True, False, False, 0.0, 1.0, 0)
    assert examine([], LABELS[:0], 3) == Check(True, True, True, 0.0, 0.0, 0)


def test_empty_clients_between_others_are_seen():
    assert examine(lists([], [0, 1], [], [2, 3, 4], []), LABELS, 3).smallest == 0


@pytest.mark.parametrize("client", [[0, 5], [-1, 2]])
def test_indices_of_another_set_are_refused(client):
    with pytest.raises(PartitionError, match="there are 5 samples"):
        examine(lists(client, [1]), LABELS, 3)


@pytest.mark.parametrize("client", [[2, 2], [3, 2]])
def test_a_sample_listed_twice_or_out_of_order_is_refused(client):
    with pytest.raises(PartitionError, match="lists sample 2 after"):
        examine(lists([0, 1], client, [4]), LABELS, 3)


def test_overlap_is_refused_unless_it_is_declared():
    overlapping = examine(lists([0, 1, 3], [1, 2, 4]), LABELS, 3)
    with pytest.raises(PartitionError, match=r"20.0% of the samples belong to several clients"):
        require_partition(overlapping, PartitionOptions())
    require_partition(overlapping, FafiOverlapOptions())


def test_a_gap_is_refused_unless_overlap_is_declared():
    gap = examine(lists([0, 1], [2, 3]), LABELS, 3)
    with pytest.raises(PartitionError, match=r"20.0% of the samples belong to no client"):
        require_partition(gap, PartitionOptions())
    require_partition(gap, FafiOverlapOptions())


@pytest.mark.parametrize("options", [PartitionOptions(min_size=3), FafiOverlapOptions(min_size=3)])
def test_a_client_below_the_minimum_is_always_refused(options):
    small = examine(lists([0, 1], [2, 3, 4]), LABELS, 3)
    with pytest.raises(PartitionError, match=r"smallest client has 2 samples, partition\.min_size is 3"):
        require_partition(small, options)
