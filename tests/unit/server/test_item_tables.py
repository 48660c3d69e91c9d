from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.errors import ClientError
from equipoise.server.item_settings import ItemSumsOptions
from equipoise.server.item_sums import add, sums_of
from equipoise.server.item_tables import PAIR_BYTES, most_items, solved, weights_of
from tests.unit.server.test_item_sums import V, windows


def total_of(histories, options: ItemSumsOptions) -> dict[str, torch.Tensor]:
    total: dict[str, torch.Tensor] = {}
    for history in histories:
        assert add(total, sums_of([history], V, options)) is None
    return total


def test_the_ridge_is_the_dense_solution_over_all_windows(rng):
    options = ItemSumsOptions(score="ridge", strength=3.0, window=4)
    histories = [rng.integers(0, V, size) for size in (2, 9, 30)]
    x, y = (np.concatenate(parts) for parts in zip(*(windows(h, 4, 0.8) for h in histories), strict=True))
    expected = np.linalg.solve(x.T @ x + 3 * np.eye(V), x.T @ y)
    found = solved(total_of(histories, options), options)
    assert found.keys() == {"ridge"}
    assert found["ridge"].numpy() == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_in_the_blend_the_ridge_is_damped_by_how_often_an_item_came_next():
    histories = [np.array([0, 1, 2, 1, 1])]
    alone, both = ItemSumsOptions(score="ridge"), ItemSumsOptions(damping=0.5)
    ridge, damped = (solved(total_of(histories, options), options)["ridge"] for options in (alone, both))
    _, y = windows(histories[0], 16, 0.8)
    # 1 came after windows of weight 1, 1 + .8 + .64 and 1 + .8 + .64 + .512; 2 after 1 + .8
    assert y.sum(0)[:3].tolist() == [0, 3, 1]
    expected = ridge[:, :3] / torch.tensor([1.0, (1 + 2.44 + 2.952) ** 0.5, 1.8**0.5])
    assert torch.allclose(damped[:, :3], expected, rtol=1e-4)


def test_transitions_count_by_their_root():
    options = ItemSumsOptions(score="markov", gaps=2)
    table = solved(total_of([np.array([0, 1, 2]), np.array([0, 1])], options), options)["markov"]
    assert table[0, :3].tolist() == pytest.approx([0, 2**0.5, 0.5**0.5])
    assert table.dtype == torch.float32


def test_items_that_nobody_met_lead_nowhere():
    options = ItemSumsOptions()
    tables = solved(total_of([np.array([0, 1])], options), options)
    for table in tables.values():
        assert not table[2:].any()
        assert not table[:, 2:].any()


def test_histories_without_any_transition_are_refused():
    options = ItemSumsOptions()
    with pytest.raises(ClientError, match="no history has two items one after another") as raised:
        solved(total_of([np.array([3])], options), options)
    assert raised.value.where == "data"
    assert raised.value.fix


def test_sums_that_are_singular_to_double_precision_are_refused():
    options = ItemSumsOptions(score="ridge", strength=1e-300)
    total = total_of([np.array([0, 1, 2])], options)
    total["gram"].view(V, V)[0, 0] = -1.0  # such a sum is none of windows
    with pytest.raises(ClientError, match="singular to double precision at item 0") as raised:
        solved(total, options)
    assert raised.value.where == "method.strength"


def test_weights_of_the_newest_items():
    options = ItemSumsOptions(newest=3, window=2, decay=0.5)
    assert weights_of("markov", options).tolist() == pytest.approx([1, 1 / 2, 1 / 3])
    assert weights_of("ridge", options).tolist() == [1, 0.5]


def test_as_many_items_fit_as_are_said_to():
    assert most_items(PAIR_BYTES * 10**6) == 1000
    assert most_items(PAIR_BYTES * 10**6 - 1) == 999
