from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from equipoise.core.values import ClientState, ClientUpdate, Question, Samples
from equipoise.evaluate.accuracy import accuracy
from equipoise.evaluate.predictions import PredictionCache
from equipoise.evaluate.probe import probe
from equipoise.models.build import build_model, state_of
from equipoise.models.mlp import MlpOptions
from equipoise.server.predict import Merged, question_of
from equipoise.server.statistics_exchange import statistics_exchange
from tests.unit.evaluate.toys import asked, evaluator, splits

from .views import Training, answered, client, flat


def test_two_encoders_two_clients_and_two_classes_by_hand():
    # x = [f_0/‖f_0‖, f_1/‖f_1‖]: the first encoder tells the classes apart, the second sees the same in every image,
    # so x is −1, −1, 1, 1 as in `ridge`, beside a constant; Ĝ has the eigenvalues 4 and 0, r is 10⁻⁴ of their mean
    first = client(0, [2, 1], own_features=[[-3.0], [-1.0], [2.0], [5.0]], asked_features=[[7.0], [-0.1]])
    second = client(1, [0, 1], own_features=[[4.0]] * 4, asked_features=[[1.0], [1.0]])
    found = answered(statistics_exchange, Merged({}, [first, second]), Training([0, 0, 1, 1], {0: [0, 1, 2], 1: [3]}))
    w = 2 / (4 + 2e-4)
    share = np.exp(0.5 + w) / (np.exp(0.5 + w) + np.exp(0.5 - w))
    assert flat(found) == pytest.approx([1 - share, share, share, 1 - share], rel=1e-5)


@pytest.fixture
def given(rng) -> tuple[PredictionCache, Merged]:
    """60 random images over three clients, each with a perceptron of its own."""

    def some(n: int) -> Samples:
        return Samples(rng.integers(0, 256, (n, 1, 6, 6), dtype=np.uint8), rng.integers(0, 3, n))

    model = build_model(MlpOptions(hidden=5), (3, 6, 6), 3, 0)
    owner = rng.integers(0, 3, 60)
    owned = [np.flatnonzero(owner == k) for k in range(3)]
    data = splits(some(60), some(20), some(200))
    clients = []
    for k, own in enumerate(owned):
        counts = np.bincount(data.train.labels[own], minlength=3).tolist()
        state = state_of(build_model(MlpOptions(hidden=5), (3, 6, 6), 3, k + 1))
        clients.append(ClientUpdate(k, len(own), state, ClientState(), {}, counts))
    return PredictionCache(evaluator(data, owned, model)), Merged(state_of(model), clients)


def predicted(predictions: PredictionCache, merged: Merged) -> Tensor:
    answers = asked(predictions.evaluator, merged, ["statistics-exchange"])
    return statistics_exchange(predictions.view("test", answers[Question("joint-sums", "all")]), merged)


def test_it_asks_for_sums_over_the_features_of_all_encoders():
    assert question_of(statistics_exchange) == Question("joint-sums", "all")


def test_where_clients_cover_the_images_once_it_is_the_probe(given):
    predictions, merged = given
    answers = predicted(predictions, merged)
    best = answers.topk(2, 1).values
    undecided = (best[:, 0] - best[:, 1] < 1e-6).double().mean().item()  # answers are in single precision
    probed = probe(predictions, [one.model for one in merged.clients])
    assert accuracy(answers, predictions.labels("test")) == pytest.approx(probed, rel=1e-9, abs=undecided)
    assert undecided < 0.05


def test_who_owns_which_image_does_not_matter(given):
    predictions, merged = given
    before = predicted(predictions, merged)
    others = replace(predictions.evaluator, indices=[np.arange(60)[k::3] for k in (2, 0, 1)])
    assert torch.allclose(predicted(PredictionCache(others), merged), before, atol=1e-6)
