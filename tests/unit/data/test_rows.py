from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.data.rows import counted, interactions_of, rows_of, some

from .histories import DEFAULT, named, read

TWO = [(7, 50, 1), (7, 30, 2), (7, 90, 3), (3, 90, 1), (3, 30, 2), (3, 50, 4)]


def test_ids_are_contiguous_and_keep_their_names():
    data = read(*TWO)
    assert data.user_ids.tolist() == [3, 7]
    assert data.item_ids.tolist() == [30, 50, 90]
    assert data.items.tolist() == [2, 0, 1, 1, 0, 2]
    assert data.bounds.tolist() == [0, 3, 6]
    assert data.times.tolist() == [1, 2, 4, 1, 2, 3]
    assert (data.items.dtype, data.bounds.dtype, data.times.dtype) == (np.int64, np.int64, np.int64)
    assert data.notes == ()


def test_ids_may_be_text():
    data = read(("zoe", "tea", 1), ("zoe", "jam", 2), ("zoe", "oat", 3))
    assert named(data) == {"zoe": ["tea", "jam", "oat"]}


def test_equal_moments_stay_in_file_order():
    data = read((1, 9, 5), (1, 2, 5), (1, 7, 5), (1, 1, 6))
    assert named(data) == {1: [9, 2, 7, 1]}
    assert data.notes == ()


def test_equal_moments_at_the_end_are_said():
    """Which is held out is the file's choice, for the second user alone."""
    data = read((1, 9, 5), (1, 2, 5), (1, 7, 6), (2, 9, 5), (2, 2, 6), (2, 7, 6), (3, 1, 1), (3, 2, 2), (3, 3, 3))
    (note,) = data.notes
    assert (
        note
        == "The file's order decides which interaction of 1 user is the last: 2 of 6 neighbours have the same time."
    )


def test_one_moment_for_all_is_no_order():
    with pytest.raises(DataError, match="there is no usable order"):
        read((1, 9, 5), (1, 2, 5), (1, 7, 5), (2, 1, 8), (2, 2, 8), (2, 3, 8))


def test_rows_out_of_order_are_sorted_and_a_note_says_so():
    data = read((1, 10, 3), (2, 20, 1), (1, 11, 1), (1, 12, 2), (2, 21, 2), (2, 22, 3))
    assert named(data) == {1: [11, 12, 10], 2: [20, 21, 22]}
    assert data.notes == ("The reader sorted the rows of 1 user by time.",)


def test_users_who_take_turns_are_not_out_of_order():
    assert read((1, 1, 1), (2, 1, 1), (1, 2, 2), (2, 2, 2), (1, 3, 3), (2, 3, 3)).notes == ()


def test_moments_are_whole_seconds_and_their_order_is_finer():
    data = read((1, 1, 2.75), (1, 2, 2.25), (1, 3, -0.5))
    assert named(data) == {1: [3, 2, 1]}
    assert data.times.tolist() == [-1, 2, 2]


def test_without_moments_there_is_only_an_order():
    data = read((1, 5, 2), (1, 6, 0), (1, 7, 1), timed=False)
    assert named(data) == {1: [6, 7, 5]}
    assert data.times is None


def test_one_unknown_moment_leaves_no_times():
    order = np.arange(3)
    rows = rows_of(np.ones(3, int), order, order, np.array([1, np.nan, 3]), "here")
    assert interactions_of("toy", rows, DEFAULT).times is None


def test_the_same_item_twice_is_two_interactions():
    assert named(read((1, 5, 1), (1, 5, 2), (1, 6, 2))) == {1: [5, 5, 6]}


def test_duplicates_are_refused():
    with pytest.raises(
        DataError, match="2 of 8 rows repeat another's user, item and time, as user 3, item 90"
    ) as caught:
        read(*TWO, TWO[3], TWO[0])
    assert caught.value.where == "here"
    assert "data.duplicates=drop" in caught.value.fix


def test_duplicates_are_dropped_where_that_is_asked_for():
    data = read(*TWO, TWO[3], TWO[0], TWO[0], duplicates="drop")
    assert named(data) == named(read(*TWO))
    assert data.notes == ("The reader dropped 3 rows that repeat another row.",)


SHORT = [(user, item, item) for user in range(10, 17) for item in range(2)] + [(5, item, item) for item in range(3)]


def test_short_users_are_refused_with_their_names():
    message = r"7 of 8 users have fewer than 3 interactions: 10 \(2\), 11 \(2\), 12 \(2\), 13 \(2\), 14 \(2\) …"
    with pytest.raises(DataError, match=message) as caught:
        read(*SHORT)
    assert "data.short=drop" in caught.value.fix


def test_short_users_are_dropped_with_the_items_only_they_had():
    data = read(*SHORT, (10, 99, 9), (11, 77, 9), (11, 1, 10), short="drop")
    assert named(data) == {5: [0, 1, 2], 10: [0, 1, 99], 11: [0, 1, 77, 1]}
    data = read(*SHORT, (20, 99, 9), short="drop")
    assert data.item_ids.tolist() == [0, 1, 2]
    assert data.notes == ("The reader dropped 8 users with fewer than 3 interactions.",)


def test_duplicates_do_not_make_a_user_long_enough():
    with pytest.raises(DataError, match="1 of 1 users have fewer than 3 interactions"):
        read((1, 1, 1), (1, 2, 2), (1, 2, 2), duplicates="drop")


def test_nobody_left():
    with pytest.raises(DataError, match="no user has 3 interactions"):
        read((1, 1, 1), (1, 2, 2), short="drop")
    empty = rows_of(np.empty(0, int), np.empty(0, int), np.empty(0), None, "here")
    with pytest.raises(DataError, match="there is no interaction"):
        interactions_of("toy", empty, DEFAULT)
    with pytest.raises(DataError, match="no user has a moment for every interaction"):
        read(*TWO, timed=False, untimed="drop")


def test_users_without_moments_are_dropped_before_the_subset():
    users = np.array([1, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    times = np.array([1, 2, np.nan, 4, 1, 2, 3, 1, 2, 3])
    rows = rows_of(users, np.arange(10), np.arange(10), times, "here")
    kept = interactions_of("toy", rows, DEFAULT.model_copy(update={"untimed": "drop", "subset": "top", "users": 1}))
    assert named(kept) == {2: [4, 5, 6]}
    assert kept.times.tolist() == [1, 2, 3]
    assert kept.notes == ("The reader dropped 1 user with an interaction without a moment.",)


def test_notes_of_the_reader_come_first():
    rows = rows_of(np.ones(3, int), np.arange(3), np.array([2, 1, 0]), None, "here", "First.")
    assert interactions_of("toy", rows, DEFAULT).notes == ("First.", "The reader sorted the rows of 1 user by time.")


def test_words():
    assert (counted(0, "row"), counted(1, "row"), counted(2, "row")) == ("0 rows", "1 row", "2 rows")
    assert some([1, 2]) == "1, 2"
    assert some(list(range(6))) == "0, 1, 2, 3, 4 …"
