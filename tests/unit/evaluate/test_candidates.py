from __future__ import annotations

import numpy as np

from equipoise.data.interactions import Interactions
from equipoise.evaluate.candidates import candidates, shortage
from tests.conftest import untouched_rng


def histories(*lists, n_items: int, names=None) -> Interactions:
    items = np.concatenate([np.array(one, dtype=np.int64) for one in lists])
    bounds = np.cumsum([0, *map(len, lists)])
    names = np.arange(len(lists)) if names is None else np.array(names)
    return Interactions("toy", items, bounds, None, names, np.arange(n_items))


def test_lists_hold_different_items_that_the_user_never_met(rng):
    data = histories(*(rng.choice(300, size, replace=False) for size in (5, 100, 200)), n_items=300)
    drawn = candidates(data, 0)
    assert drawn.shape == (3, 100)
    for user in range(3):
        assert len(set(drawn[user])) == 100
        assert not set(drawn[user]) & set(data.history(user))
        assert 0 <= drawn[user].min() <= drawn[user].max() < 300
    assert sorted([*drawn[2], *data.history(2)]) == list(range(300))  # nothing else was left


def test_a_list_depends_on_the_seed_and_the_user_alone():
    first, second = [1, 2, 3], [4, 5]
    both = candidates(histories(first, second, n_items=40, names=["ann", "bob"]), 3, n=10)
    assert (candidates(histories(first, second, n_items=40, names=["ann", "bob"]), 3, n=10) == both).all()
    assert (candidates(histories(second, n_items=40, names=["bob"]), 3, n=10)[0] == both[1]).all()
    assert (candidates(histories(first, second, n_items=40, names=["ann", "bob"]), 4, n=10) != both).any()


def test_every_item_is_as_likely_as_any_other():
    data = histories(*([0, 1] for _ in range(2000)), n_items=12)
    share = np.bincount(candidates(data, 0, n=4).ravel(), minlength=12) / 2000
    assert share[:2].tolist() == [0, 0]
    assert np.abs(share[2:] - 4 / 10).max() < 4 * (0.4 * 0.6 / 2000) ** 0.5


def test_items_met_twice_count_once():
    assert candidates(histories([0, 0, 0, 1], n_items=5), 0, n=3).tolist() == [[2, 3, 4]]


def test_too_few_items_are_left():
    data = histories([7], range(10), n_items=109, names=["ann", "bob"])
    assert candidates(data, 0) is None
    assert "user bob has met all but 99 of 109 items" in (shortage(data) or "")
    assert shortage(data, n=99) is None


def test_the_global_generators_are_left_alone():
    with untouched_rng():
        candidates(histories([0], n_items=200), 0)
