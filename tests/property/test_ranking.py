"""Ranks, metrics, chance and the Markov table equal brute-force twins; metrics lie within [0, 1]."""

from __future__ import annotations

from itertools import permutations
from math import log2, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.data.interactions import Interactions
from equipoise.evaluate.candidates import candidates
from equipoise.evaluate.intervals import bootstrap
from equipoise.evaluate.markov import UNIT, count_transitions, score_next
from equipoise.evaluate.popularity import count_items
from equipoise.evaluate.rank_metrics import CUTS
from equipoise.evaluate.ranking import chance, met, metrics, mid_ranks, n_ranked, uni100

QUICK = settings(max_examples=60, deadline=None)


@st.composite
def histories(draw: st.DrawFn, min_size: int = 0) -> tuple[list[list[int]], int]:
    n_items = draw(st.integers(1, 12))
    one = st.lists(st.integers(0, n_items - 1), min_size=min_size, max_size=15)
    return draw(st.lists(one, min_size=1, max_size=5)), n_items


@st.composite
def tables(draw: st.DrawFn) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    """Scores with many ties, targets, and what is left out."""
    n_users, n_items = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    score = st.integers(-3, 3) | st.floats(-2, 2, width=32)
    cell = st.lists(score, min_size=n_users * n_items, max_size=n_users * n_items)
    flag = st.lists(st.booleans(), min_size=n_users * n_items, max_size=n_users * n_items)
    targets = draw(st.lists(st.integers(0, n_items - 1), min_size=n_users, max_size=n_users))
    scores = torch.tensor(draw(cell), dtype=torch.float32).reshape(n_users, n_items)
    return scores, np.array(targets), np.array(draw(flag)).reshape(n_users, n_items)


def arrays(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    items = np.array([item for one in lists for item in one], dtype=np.int64)
    return items, np.cumsum([0, *map(len, lists)])


def rank(row: list[float], target: int, rivals: list[int]) -> float:
    """The mean place of the target over both ways to break ties."""
    above = sum(row[item] > row[target] for item in rivals)
    level = sum(row[item] == row[target] for item in rivals)
    return ((1 + above) + (1 + above + level)) / 2


@QUICK
@given(tables())
def test_ranks_are_those_counted_one_by_one(table) -> None:
    scores, targets, excluded = table
    ranks = mid_ranks(scores, targets, excluded)
    for u, target in enumerate(targets):
        rivals = [item for item in range(scores.shape[1]) if item != target and not excluded[u, item]]
        assert ranks[u] == rank(scores[u].tolist(), target, rivals)
        assert n_ranked(targets, excluded)[u] == len(rivals) + 1
        assert 1 <= ranks[u] <= len(rivals) + 1


@QUICK
@given(tables(), st.randoms(use_true_random=False))
def test_a_list_of_all_others_is_full_ranking(table, shuffler) -> None:
    scores, targets, _ = table
    n_items = scores.shape[1]
    drawn = [[item for item in range(n_items) if item != target] for target in targets]
    for one in drawn:
        shuffler.shuffle(one)
    lists = np.array(drawn, dtype=np.int64).reshape(len(targets), n_items - 1)
    nobody = np.zeros(scores.shape, dtype=bool)
    assert uni100(scores, targets, lists).tolist() == mid_ranks(scores, targets, nobody).tolist()


@QUICK
@given(tables())
def test_the_order_of_scores_is_all_that_counts(table) -> None:
    scores, targets, excluded = table
    steps = torch.unique(scores)
    replaced = torch.searchsorted(steps, scores).float().square()  # another increasing function
    assert mid_ranks(replaced, targets, excluded).tolist() == mid_ranks(scores, targets, excluded).tolist()


@QUICK
@given(st.lists(st.integers(2, 400).map(lambda twice: twice / 2), min_size=1, max_size=30))
def test_metrics_equal_a_twin_and_lie_within_0_and_1(ranks) -> None:
    found = metrics(np.array(ranks), "full")
    for k in CUTS:
        assert found[f"hr@{k}/full"] == pytest.approx(sum(r <= k for r in ranks) / len(ranks))
        assert found[f"ndcg@{k}/full"] == pytest.approx(sum(1 / log2(r + 1) for r in ranks if r <= k) / len(ranks))
        assert found[f"ndcg@{k}/full"] <= found[f"hr@{k}/full"]
    assert found["mrr/full"] == pytest.approx(sum(1 / r for r in ranks) / len(ranks))
    assert all(0 <= value <= 1 for value in found.values())
    assert found == metrics(np.array(ranks), "full")


@pytest.mark.parametrize("n", range(1, 7))
def test_chance_is_the_mean_over_all_orders(n) -> None:
    orders = torch.tensor(list(permutations(range(n))), dtype=torch.float32)
    targets = np.zeros(len(orders), dtype=np.int64)
    ranks = mid_ranks(orders, targets, np.zeros(orders.shape, dtype=bool))
    assert metrics(ranks, "full") == pytest.approx(chance(np.array([n]), "full"))


@QUICK
@given(histories(), st.integers(0, 100))
def test_candidates_were_never_met(given_, seed) -> None:
    lists, n_items = given_
    items, bounds = arrays(lists)
    left = [sorted(set(range(n_items)) - set(one)) for one in lists]
    n = min(map(len, left))
    data = Interactions("toy", items, bounds, None, np.arange(len(lists)), np.arange(n_items))
    for drawn, allowed in zip(candidates(data, seed, n), left, strict=True):
        assert len(set(drawn)) == n
        assert set(drawn.tolist()) <= set(allowed)


@QUICK
@given(histories(), st.data())
def test_what_was_met_and_how_often(given_, data) -> None:
    lists, n_items = given_
    items, bounds = arrays(lists)
    ends = np.array([data.draw(st.integers(0, len(one))) for one in lists])
    train = [one[:end] for one, end in zip(lists, ends, strict=True)]
    counts = [sum(one.count(j) for one in train) for j in range(n_items)]
    assert count_items(items, bounds, ends, n_items).tolist() == counts
    assert met(items, bounds, ends, n_items).tolist() == [[j in one for j in range(n_items)] for one in train]


def transitions(lists: list[list[int]]) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    for one in lists:
        for t, before in enumerate(one):
            for gap, after in enumerate(one[t + 1 : t + 6], start=1):
                found[before, after] = found.get((before, after), 0) + 1 / gap
    return found


@QUICK
@given(histories())
def test_the_markov_table_equals_a_twin(given_) -> None:
    lists, n_items = given_
    items, bounds = arrays(lists)
    counts = count_transitions(items, bounds, np.diff(bounds), n_items)
    twin = transitions(lists)
    found = {(int(i), int(j)): counts[i, j] / UNIT for i, j in zip(*counts.nonzero(), strict=True)}
    assert found == pytest.approx(twin)
    scores = score_next(counts, items, bounds[:-1], np.diff(bounds))
    for u, one in enumerate(lists):
        for j in range(n_items):
            expected = sum(sqrt(twin.get((i, j), 0)) / p for p, i in enumerate(reversed(one[-10:]), start=1))
            assert scores[u, j].item() == pytest.approx(expected, rel=1e-5)


@QUICK
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.integers(0, 1000))
def test_an_interval_lies_within_the_values(values, seed) -> None:
    found = bootstrap(np.array(values), seed, resamples=50)
    slack = 1e-12
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack
    assert found == bootstrap(np.array(values), seed, resamples=50)
