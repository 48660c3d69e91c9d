from __future__ import annotations

import numpy as np
import pytest

from equipoise.config.blocks import InteractionOptions
from equipoise.config.loader import load
from equipoise.core.errors import ConfigError, DataError
from equipoise.data.subset import chosen_users, keep_users, most_active, random_users

from .histories import named, of_histories, read

FIVE = [(user, item, item) for user, length in ((4, 3), (2, 5), (9, 4), (7, 4), (1, 4)) for item in range(length)]


def test_the_most_active_with_ties_to_the_lower_id():
    """Lengths 4, 5, 3, 4, 4 of users 1, 2, 4, 7, 9: two places beside user 2 go to 1 and 7."""
    assert named(read(*FIVE, subset="top", users=3)).keys() == {1, 2, 7}
    assert most_active(np.array([4, 5, 3, 4, 4]), 3).tolist() == [0, 1, 3]


def test_items_that_nobody_in_the_subset_met_are_gone():
    data = read(*FIVE, (4, 50, 50), subset="top", users=2)
    assert data.item_ids.tolist() == [0, 1, 2, 3, 4]
    assert read(*FIVE, subset="top", users=5).n_users == 5


def test_a_random_draw_belongs_to_its_seed():
    users = np.arange(0, 200, 2)
    first, again, other = (random_users(users, 10, seed) for seed in (0, 0, 1))
    assert first.tolist() == again.tolist() == sorted(set(first.tolist()))
    assert first.tolist() != other.tolist()
    assert set(first) <= set(users)


def test_the_draw_is_that_of_the_options():
    lengths = np.array([3, 0, 3, 3, 3, 3])
    options = InteractionOptions(subset="random", users=2, subset_seed=5)
    assert chosen_users(lengths, options).tolist() == random_users(np.array([0, 2, 3, 4, 5]), 2, 5).tolist()
    assert chosen_users(lengths, InteractionOptions()).tolist() == [0, 2, 3, 4, 5]


@pytest.mark.parametrize("subset", ["top", "random"])
def test_more_users_than_there_are(subset):
    with pytest.raises(DataError, match=r"data\.users=6 asks for more users than there are: 5"):
        read(*FIVE, subset=subset, users=6)


def test_a_subset_needs_a_number_and_a_number_a_subset():
    with pytest.raises(ConfigError, match=r"data\.users: subset=top needs the number of users to keep"):
        load({"data": "movielens-1m"}, ["data.subset=top"])
    with pytest.raises(ConfigError, match=r"data\.users: a number of users needs subset=top or subset=random"):
        load({"data": "movielens-1m"}, ["data.users=10"])


def test_users_kept_later_lose_items_and_keep_moments_and_changes():
    data = of_histories([5, 6, 7], [7, 8, 9], [5, 9, 5], times=[[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    data = keep_users(type(data)(**{**vars(data), "changes": np.array([1, -1, 2])}), np.array([0, 2]), "A note.")
    assert named(data) == {0: [5, 6, 7], 2: [5, 9, 5]}
    assert data.item_ids.tolist() == [5, 6, 7, 9]
    assert data.times.tolist() == [1, 2, 3, 7, 8, 9]
    assert data.changes.tolist() == [1, 2]
    assert data.notes == ("A note.",)
    plain = keep_users(of_histories([5, 6, 7], [7, 8, 9]), np.array([1]))
    assert (plain.times, plain.changes.tolist(), named(plain)) == (None, [], {1: [7, 8, 9]})
