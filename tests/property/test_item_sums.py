"""Sums of histories depend neither on who holds them nor on the order in which they come."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from equipoise.server.item_settings import ItemSumsOptions
from equipoise.server.item_sums import add, sums_of
from equipoise.server.item_tables import solved

V = 6
histories = st.lists(st.lists(st.integers(0, V - 1), min_size=2, max_size=20), min_size=1, max_size=8)
settings = st.builds(
    ItemSumsOptions,
    gaps=st.integers(1, 10),
    window=st.integers(1, 24),
    decay=st.floats(0.1, 1.0),
    strength=st.floats(0.5, 1000),
)


def total(clients: list[list[np.ndarray]], options: ItemSumsOptions) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for held in clients:
        assert add(found, sums_of(held, V, options)) is None
    return found


@given(histories, settings, st.data())
def test_any_grouping_and_order_of_users_gives_the_same_tables(given_, options, data) -> None:
    users = [np.array(items) for items in given_]
    alone = total([[user] for user in users], options)
    order = data.draw(st.permutations(range(len(users))))
    cut = data.draw(st.integers(0, len(users)))
    groups = [[users[k] for k in part] for part in (order[:cut], order[cut:]) if part]
    grouped = total(groups, options)
    assert torch.equal(grouped["transitions"], alone["transitions"]), "whole numbers add up exactly"
    tables, others = solved(alone, options), solved(grouped, options)
    assert torch.equal(others["markov"], tables["markov"])
    assert torch.allclose(others["ridge"], tables["ridge"], rtol=1e-4, atol=1e-5)  # sums travel in single precision


@given(histories, settings)
def test_a_gram_matrix_is_one(given_, options) -> None:
    """Symmetric by what is sent; its quadratic form is a sum of squares."""
    upper = total([[np.array(items)] for items in given_], options)["gram"].view(V, V)
    gram = upper + upper.T.tril(-1)
    assert torch.linalg.eigvalsh(gram).min() > -1e-4 * max(1.0, float(gram.diagonal().max()))
