from __future__ import annotations

from math import exp

import pytest
import torch

from equipoise.core.values import Question
from equipoise.server.common_gate import TEMPERATURE, common, common_gate
from equipoise.server.predict import Merged, question_of

from .views import Training, answered, answers_to, client, flat

# common features −1, −1, 1, 1 of classes 0, 0, 1, 1: by `ridge` W = ∓2/(4 + 4·10⁻⁴) and the bias is ½ for both
LABELS, W = [0, 0, 1, 1], 2 / (4 + 4e-4)
COMMON_SEES = {
    "own.features": torch.tensor([[-1.0], [-1.0], [1.0], [1.0]]),
    "asked.features": torch.tensor([[0.0], [0.1]]),
}
# T·(φ·W + bias) of the two classes differs by 0 and by 2·T·0.1·W
Q = [1 / 2, 1 / (1 + exp(-2 * TEMPERATURE * 0.1 * W))]
"""q of class 1."""


def test_the_temperature_is_ten():
    assert TEMPERATURE == 10


@pytest.mark.parametrize(
    "owners", [{0: [0, 1, 2, 3]}, {0: [0, 1], 1: [2, 3]}, {0: [0, 2], 1: [1, 3]}, {0: [0], 1: [1, 2, 3]}]
)
def test_common_by_hand_and_the_same_however_the_images_are_split(owners):
    clients = [client(k, [sum(LABELS[i] == c for i in own) for c in (0, 1)]) for k, own in owners.items()]
    found = answered(common, Merged({}, clients), Training(LABELS, owners, COMMON_SEES))
    assert flat(found) == pytest.approx([1 - Q[0], Q[0], 1 - Q[1], Q[1]], rel=1e-5)


def test_the_gate_by_hand():
    # client 0 has both images of class 0 and one of class 1, client 1 the other of class 1
    owners = {0: [0, 1, 2], 1: [3]}
    first = client(0, [2, 1], asked_logits=[[0.0, 0.0], [0.0, 0.0]])  # ½, ½
    second = client(1, [0, 1], asked_logits=[[99.0, 0.0], [99.0, 0.0]])  # owns class 1 alone: 0, 1
    found = answered(common_gate, Merged({}, [first, second]), Training(LABELS, owners, COMMON_SEES))
    expected = []
    for q in Q:
        g = (1 - q) * 2 / 2 + q * 1 / 2, (1 - q) * 0 / 2 + q * 1 / 2
        joint = (1 - q) * (g[0] / 2 + 0), q * (g[0] / 2 + g[1])
        expected += [joint[0] / sum(joint), joint[1] / sum(joint)]
    assert flat(found) == pytest.approx(expected, rel=1e-5)


def test_a_class_that_nobody_has_is_never_answered():
    labels, owners = [0, 0, 2, 2], {0: [0, 1, 2, 3]}
    only = client(0, [2, 0, 2], asked_logits=[[0.0, 50.0, 0.0]] * 2)
    found = answered(common_gate, Merged({}, [only]), Training(labels, owners, COMMON_SEES))
    assert found[:, 1].tolist() == [0, 0]
    assert found.sum(1).tolist() == pytest.approx([1, 1])


def test_clients_send_single_precision():
    (answer,) = answers_to(
        common, Merged({}, [client(0, [2, 2])]), Training(LABELS, {0: [0, 1, 2, 3]}, COMMON_SEES)
    ).values()
    assert {name: tensor.dtype for name, tensor in answer.items()} == dict.fromkeys(
        ("gram", "classes", "features", "counts"), torch.float32
    )


@pytest.mark.parametrize("predict", [common, common_gate])
def test_both_ask_one_question_that_needs_no_trained_model(predict):
    assert question_of(predict) == Question("common-sums", "common")
