from __future__ import annotations

from math import exp

import pytest
import torch

from equipoise.models.classifier import ModelOutput
from equipoise.server.means import class_sums, merge_means, nearest_mean
from equipoise.server.merge import ServerState
from equipoise.server.predict import Merged

from .views import client, flat, own_samples, view


def report(sums, counts):
    return {"sums": torch.tensor(sums), "counts": torch.tensor(counts)}


def test_sums_of_features_and_images_of_each_class():
    seen = ModelOutput(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.zeros(3, 3))
    found = class_sums(own_samples([seen], [2, 0, 2], 3))
    assert found["sums"].tolist() == [[3, 4], [0, 0], [6, 8]]
    assert found["counts"].tolist() == [1, 0, 2]


def test_means_are_weighed_by_images_not_by_clients():
    clients = [
        client(0, [3, 0, 0], report([[9.0, 3.0], [0.0, 0.0], [0.0, 0.0]], [3.0, 0.0, 0.0])),
        client(1, [1, 2, 0], report([[3.0, 1.0], [4.0, 6.0], [0.0, 0.0]], [1.0, 2.0, 0.0])),
    ]
    state = ServerState({"w": torch.ones(1)}, broadcast={"other": torch.ones(1)})
    for order in (clients, clients[::-1]):
        after = merge_means(state, order)
        assert after.broadcast["means.features"].tolist() == [[12 / 4, 4 / 4], [4 / 2, 6 / 2], [0, 0]]
        assert after.broadcast["means.counts"].tolist() == [4, 2, 0]
        assert set(after.broadcast) == {"means.features", "means.counts", "other"}
        assert after.model is state.model  # clients keep their models, the server keeps its own
    assert set(state.broadcast) == {"other"}


BROADCAST = {
    "means.features": torch.tensor([[3.0, 0.0], [1.0, 4.0], [0.0, 0.0]]),
    "means.counts": torch.tensor([5.0, 2.0, 0.0]),
}
CLIENTS = [client(0, [3, 0, 0], asked_features=[[4.0, 0.0]]), client(1, [0, 1, 0], asked_features=[[0.0, 8.0]])]


def test_the_answer_of_the_nearest_mean_by_hand():
    # F = ¾·(4, 0) + ¼·(0, 8) = (3, 2); −‖F − m‖²/D = −(0 + 4)/2 and −(4 + 4)/2; nobody has class 2
    found = nearest_mean(view(), Merged({}, CLIENTS, BROADCAST))
    total = exp(-2) + exp(-4)
    assert flat(found) == pytest.approx([exp(-2) / total, exp(-4) / total, 0])


def test_a_class_that_nobody_has_is_not_answered_even_where_its_zero_is_nearest():
    at_zero = [client(0, [1, 1, 0], asked_features=[[0.0, 0.0]])]
    assert nearest_mean(view(), Merged({}, at_zero, BROADCAST))[0, 2].item() == 0
