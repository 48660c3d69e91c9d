from __future__ import annotations

from math import exp, sqrt

import pytest
import torch
from torch.nn import functional as F

from equipoise.server.iffi import iffi, iffi_published
from equipoise.server.predict import Merged

from .views import client, flat, view

P = {"head.prototypes": torch.tensor([[2.0, 0.0], [0.0, 3.0]])}
# noise features (4, 0) and (0, 0) of client 0: their mean points east; client 1 finds noise in the north
EAST = client(0, [10, 0], asked_features=[[3.0, 4.0], [0.0, 1.0]], noise_features=[[4.0, 0.0], [0.0, 0.0]])
NORTH = client(1, [0, 1], asked_features=[[1.0, 0.0], [0.0, 5.0]], noise_features=[[0.0, 7.0]])


def softmax(first: float, second: float) -> list[float]:
    return [exp(first) / (exp(first) + exp(second)), exp(second) / (exp(first) + exp(second))]


def test_features_weighted_by_how_informative_they_are_by_hand():
    found = iffi(view(), Merged(P, [EAST, NORTH]))
    # image 0: u = 1 − 3/5 and 1 − 0, F = 0.4·(3, 4) + (1, 0) = (2.2, 1.6); image 1: u = 1 and 0, F = (0, 1)
    norm = sqrt(2.2**2 + 1.6**2)
    assert flat(found) == pytest.approx([*softmax(2 * 2.2 / norm, 3 * 1.6 / norm), *softmax(0, 3)], rel=1e-5)


def test_the_noise_is_a_mean_of_features_not_of_their_directions():
    # (4, 0) and (0, 2) have the mean (2, 1)
    one = client(0, [1, 1], asked_features=[[1.0, 0.0]], noise_features=[[4.0, 0.0], [0.0, 2.0]])
    other = client(1, [1, 1], asked_features=[[0.0, 1.0]], noise_features=[[0.0, -1.0]])
    u = 1 - 2 / sqrt(5), 2
    norm = sqrt(u[0] ** 2 + u[1] ** 2)
    assert flat(iffi(view(), Merged(P, [one, other]))) == pytest.approx(softmax(2 * u[0] / norm, 3 * u[1] / norm))


def test_as_published_the_weight_cancels_and_leaves_the_plain_sum():
    found = iffi_published(view(), Merged(P, [EAST, NORTH]))
    # neither shares of samples nor u: F = (3, 4) + (1, 0) = (4, 4) and (0, 1) + (0, 5)
    assert flat(found) == pytest.approx([*softmax(2 / sqrt(2), 3 / sqrt(2)), *softmax(0, 3)], rel=1e-5)


def test_as_published_it_is_the_plain_sum_for_any_features(seed):
    draw = torch.Generator().manual_seed(seed)
    features, noise = (torch.randn(3, n, 2, generator=draw) for n in (6, 4))
    clients = [client(k, [1, k], asked_features=features[k], noise_features=noise[k]) for k in range(3)]
    expected = (F.normalize(features.sum(0), dim=1) @ P["head.prototypes"].T).softmax(1)
    assert torch.allclose(iffi_published(view(), Merged(P, clients)), expected, atol=1e-6)
    assert not torch.allclose(iffi(view(), Merged(P, clients)), expected, atol=1e-2)
