from __future__ import annotations

from math import exp

import pytest
import torch

from equipoise.core.values import Question
from equipoise.server.common_exchange import BETA, common_exchange
from equipoise.server.predict import Merged, question_of

from .views import Training, answered, answers_to, client, flat

LABELS, OWNERS = [0, 0, 1, 1], {0: [0, 1, 2], 1: [3]}
SIDES = torch.tensor([[-1.0], [-1.0], [1.0], [1.0]])
EVEN = torch.ones(4, 1)


def merged(trained: torch.Tensor, asked: float) -> Merged:
    """Two clients; the first one's encoder sees `trained`, the second one's the same in every image."""
    first = client(0, [2, 1], own_features=trained, asked_features=[[asked]])
    return Merged({}, [first, client(1, [0, 1], own_features=EVEN, asked_features=[[1.0]])])


def shown(own: torch.Tensor, asked: float) -> Training:
    return Training(LABELS, OWNERS, {"own.features": own, "asked.features": torch.tensor([[asked]])})


def share(score: float) -> list[float]:
    """Of two classes with scores ½ − s and ½ + s."""
    return [1 / (1 + exp(2 * score)), 1 / (1 + exp(-2 * score))]


# D = 3 features of which one or two vary; of those Ĝ is 4 times an outer product, and r = 10⁻⁴ of tr Ĝ/D
def test_fixed_features_alone_by_hand():
    found = answered(common_exchange, merged(EVEN, 1.0), shown(SIDES, 0.5))
    assert flat(found) == pytest.approx(share(0.5 * 2 / (4 + 1e-4 * 4 / 3)), rel=1e-5)


def test_trained_features_count_by_the_root_of_beta():
    # both see −1, −1, 1, 1: x̂ = (1, √β) times that, so weights are 2·(1, √β)/(4·(1 + β) + r), and the trained one's
    # own feature is multiplied by √β once more
    found = answered(common_exchange, merged(SIDES, -1.0), shown(SIDES, 0.5))
    r = 1e-4 * 4 * (1 + BETA) / 3
    assert BETA == 0.1
    assert flat(found) == pytest.approx(share((0.5 - BETA) * 2 / (4 * (1 + BETA) + r)), rel=1e-5)


def test_clients_send_sums_of_both_in_single_precision():
    answers = answers_to(common_exchange, merged(SIDES, 1.0), shown(SIDES, 0.5))
    assert {name: (tensor.shape, tensor.dtype) for name, tensor in answers[0].items()} == {
        "gram": ((3, 3), torch.float32),
        "classes": ((3, 2), torch.float32),
        "features": ((3,), torch.float32),
        "counts": ((2,), torch.float32),
    }


def test_it_asks_for_sums_of_the_features_of_all_encoders():
    assert question_of(common_exchange) == Question("common-joint-sums", "all")
