from __future__ import annotations

from math import exp, log, sqrt

import pytest
import torch

from equipoise.core.values import Question
from equipoise.models.classifier import ModelOutput
from equipoise.server.energy_gate import energies, energy_gate, gated, owned_logits, spread
from equipoise.server.predict import Merged, question_of

from .views import Training, answered, client, flat, own_samples

FAR = 1000.0
"""A logit of a class that is not owned: it must not be heard."""
TRAINING = Training([0, 0, 1, 1, 2], {0: [0, 1, 2], 1: [3, 4]})
# energies of client 0 on its own images: log 2, log 8, log 4; m = 2·log 2, d = log 2·√(2/3)
FIRST = client(
    0,
    [2, 1, 0],
    asked_logits=[[log(1), log(3), FAR], [log(4), log(4), FAR]],
    own_logits=[[0.0, 0.0, FAR], [log(3), log(5), FAR], [0.0, log(3), FAR], [9.0] * 3, [9.0] * 3],
)
# energies of client 1 on its own images: log 2, log 8; m = 2·log 2, d = log 2
SECOND = client(
    1,
    [0, 1, 1],
    asked_logits=[[FAR, log(2), log(6)], [FAR, log(1), log(1)]],
    own_logits=[[9.0] * 3, [9.0] * 3, [9.0] * 3, [FAR, 0.0, 0.0], [FAR, log(4), log(4)]],
)


def test_two_clients_and_three_classes_by_hand():
    found = answered(energy_gate, Merged({}, [FIRST, SECOND]), TRAINING)
    # image 0: e = log 4 and log 8, so ẽ = 0 and 1; image 1: e = log 8 and log 2, so ẽ = √(3/2) and −1
    expected = []
    answers = ([(1 / 4, 3 / 4, 0), (0, 1 / 4, 3 / 4)], [(1 / 2, 1 / 2, 0), (0, 1 / 2, 1 / 2)])
    for (own, other), (mine, theirs) in zip([(0, 1), (sqrt(3 / 2), -1)], answers, strict=True):
        first, second = 3 / 5 * exp(own), 2 / 5 * exp(other)
        g = first / (first + second)
        expected += [g * a + (1 - g) * b for a, b in zip(mine, theirs, strict=True)]
    assert flat(found) == pytest.approx(expected, rel=1e-5)


def test_a_class_that_nobody_owns_is_never_answered():
    third = client(0, [1, 1, 0], asked_logits=[[0.0, 0.0, FAR]], own_logits=[[1.0, 2.0, FAR], [0.0, 1.0, FAR]])
    found = answered(energy_gate, Merged({}, [third]), Training([0, 1], {0: [0, 1]}))
    assert flat(found) == pytest.approx([1 / 2, 1 / 2, 0])


def test_one_client_is_heard_alone_whatever_it_says_of_its_images():
    found = answered(energy_gate, Merged({}, [FIRST]), TRAINING)
    assert flat(found) == pytest.approx([1 / 4, 3 / 4, 0, 1 / 2, 1 / 2, 0])


def test_a_client_with_one_image_of_one_class():
    # its energy on its image is 5 and never varies, so d = 1: ẽ = 7 − 5; the other has ẽ = 0 and three times the images
    single = client(3, [0, 0, 1], asked_logits=[[FAR, FAR, 7.0], [FAR, FAR, 5.0]], own_logits=[[FAR, FAR, 5.0]] * 6)
    training = Training([*TRAINING.labels, 2], {0: [0, 1, 2], 3: [5]})
    found = answered(energy_gate, Merged({}, [FIRST, single]), training)
    g = 3 / (3 + exp(2))
    assert flat(found[0]) == pytest.approx([g / 4, g * 3 / 4, 1 - g], rel=1e-5)
    assert torch.isfinite(found).all()


def test_what_a_client_answers_by_hand():
    """Energies log 2, log 8 and log 4 over the classes it has; the class it has not is not heard."""
    found = energies(own_samples([ModelOutput(torch.zeros(3, 1), FIRST.model["own.logits"][:3])], [0, 0, 1], 3))
    assert found["mean"].item() == pytest.approx(2 * log(2))
    assert found["deviation"].item() == pytest.approx(log(2) * sqrt(2 / 3))


def test_it_asks_for_the_energies_that_each_client_has_by_its_own_model():
    assert question_of(energy_gate) == Question("energies", "own")


def test_logits_of_classes_without_images_are_masked_and_the_rest_is_as_it_was():
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    masked = owned_logits([4, 0, 1], ModelOutput(torch.zeros(1, 1), logits))
    assert masked.tolist() == [[1.0, -torch.inf, 3.0]]
    assert logits.tolist() == [[1.0, 2.0, 3.0]]


def test_mean_and_deviation_over_the_images_and_one_where_nothing_varies():
    report = spread(torch.tensor([1.0, 3.0, 8.0]))
    assert report["mean"].item() == 4
    assert report["deviation"].item() == pytest.approx(sqrt((9 + 1 + 16) / 3))
    assert {name: value.item() for name, value in spread(torch.tensor([2.5, 2.5])).items()} == {
        "mean": 2.5,
        "deviation": 1,
    }


def test_gates_are_shares_times_exponentials():
    found = gated(torch.tensor([[0.0, 1.0], [2.0, 1.0]]), [1 / 4, 3 / 4])
    first = 1 / (1 + 3 * exp(2))
    assert flat(found) == pytest.approx([first, 1 / 4, 1 - first, 3 / 4])
