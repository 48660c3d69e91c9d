from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.errors import ClientError
from equipoise.data.interactions import Interactions
from equipoise.evaluate.blend import Blend
from equipoise.evaluate.markov import count_transitions, score_next
from equipoise.evaluate.recommender import UserPositions
from equipoise.evaluate.table_scorer import TableScorer, table_scorer
from equipoise.server.item_settings import ItemSumsOptions
from equipoise.server.item_sums import add, sums_of
from equipoise.server.item_tables import solved, weights_of
from equipoise.server.predict import Merged

V = 5


def data_of(*histories: list[int]) -> Interactions:
    bounds = np.cumsum([0, *map(len, histories)])
    return Interactions("x", np.concatenate(histories), bounds, None, np.arange(len(histories)), np.arange(V))


def test_scores_by_hand():
    data, table = data_of([0, 1, 2], [3, 4]), torch.arange(25.0).view(V, V)
    scorer = TableScorer("t", np.array([1.0, 0.5]), data)
    positions = UserPositions(np.array([0, 1, 0]), np.array([3, 1, 0]))
    scores = scorer.user_scores(Merged({"t": table}, ()), {}, positions)
    assert scores[0].tolist() == (table[2] + 0.5 * table[1]).tolist()
    assert scores[1].tolist() == table[3].tolist()
    assert scores[2].tolist() == [0] * V, "nothing is before the first item"


def test_the_table_of_transitions_ranks_as_the_reference_does(rng):
    histories = [rng.integers(0, V, size).tolist() for size in (4, 12, 20)]
    data, options, total = data_of(*histories), ItemSumsOptions(), {}
    for history in histories:
        add(total, sums_of([np.array(history)], V, options))
    scorer = TableScorer("markov", weights_of("markov", options), data, solved(total, options))
    positions = UserPositions(np.arange(3), data.lengths)
    counts = count_transitions(data.items, data.bounds, data.lengths, V)
    expected = score_next(counts, data.items, data.bounds[:-1], data.lengths)
    found = scorer.user_scores(Merged({}, ()), {}, positions)
    assert found.numpy() == pytest.approx(expected.numpy(), rel=1e-5)


def test_one_table_ranks_alone_and_two_together():
    data = data_of([0, 1])
    alone = table_scorer(ItemSumsOptions(score="ridge"), data, lambda: None)
    both = table_scorer(ItemSumsOptions(), data, lambda: None)
    assert isinstance(alone, TableScorer)
    assert isinstance(both, Blend)
    assert (both.name, both.first.name, both.second.name) == ("ridge", "markov", "ridge")


def test_a_table_of_another_catalogue_is_refused():
    scorer = TableScorer("t", np.array([1.0]), data_of([0, 1]), {"t": torch.zeros(4, 4)})
    with pytest.raises(ClientError, match="table 't' is of 4 items, and the data has 5"):
        scorer.user_scores(Merged({}, ()), {}, UserPositions(np.array([0]), np.array([1])))
