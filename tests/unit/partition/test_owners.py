import numpy as np
import pytest

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.core.streams import stream
from equipoise.partition.owners import repair, require_room, settle

# client 0 has 4 of class 0 and 2 of class 1, client 1 has one of class 1, client 2 nothing
OWNER = np.array([0, 0, 0, 0, 0, 0, 1])
LABELS = np.array([0, 0, 0, 0, 1, 1, 1])


def moved(options, owner=OWNER, labels=LABELS, seed=0):
    return repair(owner, labels, options, stream(seed, "test"))


def test_nothing_moves_when_every_client_is_large_enough():
    owner = np.array([0, 1, 2, 0, 1, 2, 0])
    assert moved(PartitionOptions(clients=3, min_size=2), owner) is owner


def test_the_largest_client_gives_from_its_largest_class():
    after = moved(PartitionOptions(clients=3, min_size=1))
    assert np.bincount(after).tolist() == [5, 1, 1]
    assert LABELS[after != OWNER].tolist() == [0]  # class 0 has 4 of the donor's 6


def test_classes_of_a_donor_are_levelled_one_sample_at_a_time():
    after = moved(PartitionOptions(clients=3, min_size=2))
    # three moves from client 0 (4 + 2): 3 + 2, 2 + 2, and of equals the lower class: 1 + 2
    assert np.bincount(after).tolist() == [3, 2, 2]
    assert LABELS[after != OWNER].tolist() == [0, 0, 0]


def test_donors_take_turns_as_they_shrink():
    owner = np.array([0] * 5 + [1] * 4)
    after = moved(PartitionOptions(clients=3, min_size=3), owner, np.zeros(9, dtype=np.int64))
    assert np.bincount(after).tolist() == [3, 3, 3]  # 5, 4 → 4, 4 → 3, 4 → 3, 3


def test_the_sample_that_moves_is_drawn_and_the_draw_repeats():
    options = PartitionOptions(clients=3, min_size=1)
    firsts = {int(np.flatnonzero(moved(options, seed=seed) != OWNER)[0]) for seed in range(40)}
    assert firsts == {0, 1, 2, 3}
    assert moved(options, seed=7).tolist() == moved(options, seed=7).tolist()


def test_owners_given_are_not_changed_in_place():
    before = OWNER.copy()
    moved(PartitionOptions(clients=3, min_size=2))
    assert before.tolist() == OWNER.tolist()


def test_settle_lists_each_client_in_ascending_order():
    owner = np.array([1, 0, 1, 0, 2, 2])
    lists = settle(owner, np.zeros(6, dtype=np.int64), PartitionOptions(clients=3, min_size=1), stream(0, "test"))
    assert [index.tolist() for index in lists] == [[1, 3], [0, 2], [4, 5]]


def test_too_many_clients_is_an_error_with_the_numbers_and_the_way_out():
    with pytest.raises(PartitionError) as caught:
        require_room(9, PartitionOptions(clients=5, min_size=2))
    assert "5 clients of at least 2 need 10 samples, there are 9" in str(caught.value)
    assert "partition.clients" in caught.value.fix
    assert caught.value.exit_code == 2
    require_room(10, PartitionOptions(clients=5, min_size=2))
