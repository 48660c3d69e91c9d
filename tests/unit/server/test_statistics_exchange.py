from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.values import ClientState, ClientUpdate, Images
from equipoise.evaluate.accuracy import accuracy
from equipoise.evaluate.predictions import PredictionCache, Scorer
from equipoise.evaluate.probe import probe
from equipoise.models.build import build_model, state_of
from equipoise.models.mlp import MlpOptions
from equipoise.server.predict import Merged
from equipoise.server.statistics_exchange import statistics_exchange
from tests.conftest import tiny
from tests.unit.evaluate.toys import splits

from .scenes import client, flat, view


def test_two_encoders_two_clients_and_two_classes_by_hand():
    # x = [f_0/‖f_0‖, f_1/‖f_1‖]: the first encoder tells the classes apart, the second sees the same in every image,
    # so x is −1, −1, 1, 1 as in `ridge`, beside a constant; Ĝ has the eigenvalues 4 and 0, r is 10⁻⁴ of their mean
    first = client(0, [2, 1], own_features=[[-3.0], [-1.0], [2.0], [5.0]], asked_features=[[7.0], [-0.1]])
    second = client(1, [0, 1], own_features=[[4.0]] * 4, asked_features=[[1.0], [1.0]])
    found = statistics_exchange(view([0, 0, 1, 1], {0: [0, 1, 2], 1: [3]}), Merged({}, [first, second]))
    w = 2 / (4 + 2e-4)
    share = np.exp(0.5 + w) / (np.exp(0.5 + w) + np.exp(0.5 - w))
    assert flat(found) == pytest.approx([1 - share, share, share, 1 - share], rel=1e-5)


@pytest.fixture
def given(rng) -> tuple[PredictionCache, Merged]:
    """60 random images over three clients, each with a perceptron of its own."""

    def some(n: int) -> Images:
        return Images(rng.integers(0, 256, (n, 1, 6, 6), dtype=np.uint8), rng.integers(0, 3, n))

    model = build_model(MlpOptions(hidden=5), (3, 6, 6), 3, 0)
    owner = rng.integers(0, 3, 60)
    owned = [np.flatnonzero(owner == k) for k in range(3)]
    data = splits(some(60), some(20), some(200))
    clients = []
    for k, own in enumerate(owned):
        counts = np.bincount(data.train.labels[own], minlength=3).tolist()
        state = state_of(build_model(MlpOptions(hidden=5), (3, 6, 6), 3, k + 1))
        clients.append(ClientUpdate(k, len(own), state, ClientState(), {}, counts))
    return PredictionCache(Scorer(model, data, tiny(), owned)), Merged(state_of(model), clients)


def test_where_clients_cover_the_images_once_it_is_the_probe(given):
    predictions, merged = given
    answers = statistics_exchange(predictions.view("test"), merged)
    best = answers.topk(2, 1).values
    undecided = (best[:, 0] - best[:, 1] < 1e-6).double().mean().item()  # answers are in single precision
    probed = probe(predictions, [one.model for one in merged.clients])
    assert accuracy(answers, predictions.labels("test")) == pytest.approx(probed, rel=1e-9, abs=undecided)
    assert undecided < 0.05


def test_who_owns_which_image_does_not_matter(given):
    predictions, merged = given
    before = statistics_exchange(predictions.view("test"), merged)
    predictions.own = [np.arange(60)[k::3] for k in (2, 0, 1)]
    assert torch.allclose(statistics_exchange(predictions.view("test"), merged), before, atol=1e-6)
