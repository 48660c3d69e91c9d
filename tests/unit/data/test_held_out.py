from __future__ import annotations

import doctest

import numpy as np
import pytest

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.data import held_out, rows
from equipoise.data.held_out import hold_out

from .histories import named, of_histories


def split(data, name, **options):
    return hold_out(data, InteractionOptions(split=name, **options))


@pytest.mark.parametrize("module", [held_out, rows])
def test_examples(module):
    assert doctest.testmod(module).attempted
    assert not doctest.testmod(module).failed


def test_leave_one_out():
    parts = split(of_histories([1, 2, 3], [4, 5, 6, 7, 8]), "leave-one-out")
    assert parts.train_end.tolist() == [1, 3]
    assert parts.validation_at.tolist() == [1, 3]
    assert parts.test_at.tolist() == [2, 4]
    assert parts.slices is None


def test_who_has_a_single_interaction_to_train_on_is_counted_in_a_note():
    parts = split(of_histories([1, 2, 3], [4, 5, 6], [4, 5, 6, 7]), "leave-one-out")
    assert parts.interactions.n_users == 3
    assert "left 2 users a single interaction" in parts.interactions.notes[-1]
    assert not any("single" in note for note in split(of_histories([1, 2, 3, 4]), "leave-one-out").interactions.notes)


def test_who_is_to_be_shown_what_was_met_before_is_counted_in_a_note():
    parts = split(of_histories([1, 2, 3, 1], [4, 5, 6, 7], [4, 5, 4, 7]), "leave-one-out")
    assert "The test target of 1 user is an item that was met before" in parts.interactions.notes[-1]


TIMED = of_histories([1, 2, 3, 4], [1, 2, 3], [5, 6, 7], times=[[0, 1, 6, 9], [2, 3, 4], [5, 7, 8]])


def test_temporal_cuts_all_users_at_the_same_two_moments():
    """Ten interactions at 0 … 9: 40 % at or after 6, half of them at or after 8."""
    parts = split(TIMED, "temporal", held_out=0.4)
    assert parts.moments == (6, 8)
    assert parts.train_end.tolist() == [2, 3, 1]
    assert parts.validation_at.tolist() == [2, -1, 1]
    assert parts.test_at.tolist() == [3, -1, 2]
    told = [f"1 of 3 users have no {part} target, and do not count in its figures." for part in ("validation", "test")]
    assert list(parts.interactions.notes[-2:]) == told


def test_a_user_may_have_a_test_target_without_a_validation_target():
    data = of_histories([1, 2, 3, 4], [1, 2, 3, 4], times=[[0, 1, 2, 9], [3, 4, 7, 8]])
    parts = split(data, "temporal", held_out=0.5)
    assert parts.moments == (4, 8)
    assert parts.validation_at.tolist() == [-1, 1]
    assert parts.test_at.tolist() == [3, 3]


def test_equal_moments_hold_out_at_least_what_was_asked_for():
    """Of ten, at or after 5 are six and at or after 6 two; 30 % needs three, so t₁ is 5; 15 % needs two, so t₂ is 6."""
    data = of_histories([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], times=[[0, 1, 5, 5, 6], [2, 3, 5, 5, 6]])
    parts = split(data, "temporal", held_out=0.3)
    assert parts.moments == (5, 6)
    assert parts.train_end.tolist() == [2, 2]
    assert parts.validation_at.tolist() == [2, 2]
    assert parts.test_at.tolist() == [4, 4]


LATE = of_histories([1, 2, 3, 4], [7, 8, 9], times=[[0, 1, 6, 8], [5, 7, 9]])


def test_users_with_nothing_to_train_on_are_refused():
    with pytest.raises(DataError, match=r"1 of 2 users have nothing before the first moment \(5\): 1") as caught:
        split(LATE, "temporal", held_out=0.7)
    assert "data.short=drop" in caught.value.fix


def test_users_with_nothing_to_train_on_are_dropped_where_that_is_asked_for():
    parts = split(LATE, "temporal", held_out=0.7, short="drop")
    assert parts.moments == (5, 7)
    assert named(parts.interactions) == {0: [1, 2, 3, 4]}
    assert parts.interactions.item_ids.tolist() == [1, 2, 3, 4]
    assert (parts.train_end.tolist(), parts.validation_at.tolist(), parts.test_at.tolist()) == ([2], [2], [3])
    assert parts.interactions.notes == ("The split dropped 1 user with nothing before its first moment.",)


def test_a_split_without_targets_is_refused():
    data = of_histories([1, 2, 3, 4, 5, 6], [7, 8, 9], times=[[0, 1, 2, 3, 4, 5], [6, 7, 8]])
    with pytest.raises(DataError, match="no user with something to train on has a validation target"):
        split(data, "temporal", held_out=0.3, short="drop")


def test_temporal_needs_moments():
    with pytest.raises(DataError, match="'toy' has only their order") as caught:
        split(of_histories([1, 2, 3]), "temporal")
    assert "data.untimed=drop" in caught.value.fix


@pytest.mark.parametrize("times", [[[4, 4, 4, 4]], [[0, 4, 4, 4]]], ids=["one moment", "two moments"])
def test_too_few_moments_for_a_temporal_split(times):
    with pytest.raises(DataError, match="no two moments hold out 50% of 4 interactions") as caught:
        split(of_histories([1, 2, 3, 4], times=times), "temporal", held_out=0.5)
    assert f"{len(set(times[0]))} different moments" in caught.value.where


def test_slices_at_shared_moments_hold_the_same_number_of_interactions():
    """Ten at 0 … 9 in five slices: cut at 2, 4, 6, 8."""
    parts = split(TIMED, "slices", slices=5)
    assert parts.moments == (2, 4, 6, 8)
    assert parts.slices.tolist() == [[0, 2, 2, 2, 3, 4], [0, 0, 2, 3, 3, 3], [0, 0, 0, 1, 2, 3]]
    assert np.diff(parts.slices, axis=1).sum(axis=0).tolist() == [2] * 5
    assert parts.train_end.tolist() == [2, 0, 0]
    assert set(parts.validation_at) == set(parts.test_at) == {-1}


def test_slices_at_positions_are_equal_parts_of_each_history():
    data = of_histories(range(7), range(3))
    parts = split(data, "slices", slices=3, cut="positions")
    assert parts.slices.tolist() == [[0, 2, 4, 7], [0, 1, 2, 3]]
    assert parts.moments == ()


def test_slices_at_moments_need_moments():
    with pytest.raises(DataError, match="the slices split needs the moment") as caught:
        split(of_histories([1, 2, 3]), "slices")
    assert "data.cut=positions" in caught.value.fix


def test_too_few_moments_for_slices():
    data = of_histories([1, 2, 3, 4], times=[[1, 1, 2, 2]])
    with pytest.raises(DataError, match="2 different moments cannot be cut into 3 slices"):
        split(data, "slices", slices=3)
    assert split(data, "slices", slices=2).slices.tolist() == [[0, 2, 4]]


def test_moments_of_real_users(real_data):
    """MovieLens-1M, packed: every moment of users 1 … 2999 is known."""
    from equipoise.data.movielens import movielens_1m

    options = InteractionOptions(untimed="drop", split="temporal", short="drop")
    data = movielens_1m(options, real_data)
    assert (data.n_users, data.user_ids.max(), len(data.items)) == (2999, 2999, 487_344)
    parts = hold_out(data, options)
    assert parts.train_end.sum() / len(data.items) == pytest.approx(0.8, abs=1e-4)
    assert (parts.train_end > 0).all()
    assert (parts.test_at >= 0).sum() > 500
