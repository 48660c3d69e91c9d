from __future__ import annotations

from math import exp, log, sqrt

import pytest
import torch

from equipoise.core.values import Question
from equipoise.models.classifier import ModelOutput
from equipoise.server.energy_gate import energies, energy_gate
from equipoise.server.predict import Merged, question_of
from equipoise.server.typicality_gate import energies_and_classes, own_classes, typicality, typicality_gate
from tests.conftest import assert_same

from .views import Training, answered, client, flat, own_samples

# directions (1, 0), (−1, 0) of class 0 and (0, 1) of class 1: means (0, 0) and (0, 1), rests (±1, 0) and (0, 0),
# covariance diag(2/3, 0), its level 1/3; shrunk 9/10·diag(2/3, 0) + 1/10·1/3·I = diag(19/30, 1/30)
FEATURES, LABELS = [[5.0, 0.0], [-2.0, 0.0], [0.0, 3.0]], [0, 0, 1]
MEANS, PRECISION = [[0, 0], [0, 1]], [30 / 19, 30]
# t of the three: −½·30/19, the same, 0
MEAN, DEVIATION = -10 / 19, sqrt((25 + 25 + 100) / 3) / 19


def report():
    return own_classes(own_samples([ModelOutput(torch.tensor(FEATURES), torch.zeros(3, 2))], LABELS, 2))


def test_what_a_client_tells_by_hand():
    found = report()
    assert flat(found["means"]) == pytest.approx([value for row in MEANS for value in row], abs=1e-12)
    assert flat(found["precision"]) == pytest.approx([PRECISION[0], 0, 0, PRECISION[1]])
    assert found["mean"].item() == pytest.approx(MEAN)
    assert found["deviation"].item() == pytest.approx(DEVIATION)


def test_classes_are_those_the_client_has_whatever_their_numbers():
    found = own_classes(own_samples([ModelOutput(torch.tensor(FEATURES), torch.zeros(3, 9))], [4, 4, 7], 9))
    assert all(torch.equal(found[name], value) for name, value in report().items())


@pytest.mark.parametrize(
    ("feature", "t"),
    [
        ([0.0, 9.0], 0),  # a class mean
        ([0.6, 0.8], -0.5 * (0.36 * 30 / 19 + 0.04 * 30)),  # nearer to (0, 1) than to (0, 0)
        ([0.0, -1.0], -0.5 * 30),  # one away from (0, 0), two from (0, 1)
    ],
)
def test_the_distance_to_the_nearest_class_by_hand(feature, t):
    assert typicality(torch.tensor([feature]), report()).item() == pytest.approx(t, abs=1e-5)


def test_an_answer_holds_that_and_the_energies_each_under_its_own_name():
    logits = torch.tensor([[0.0, 0.0], [log(3), log(5)], [0.0, log(3)]])
    own = own_samples([ModelOutput(torch.tensor(FEATURES), logits)], LABELS, 2)
    found = energies_and_classes(own)
    assert_same({name: found[f"classes.{name}"] for name in own_classes(own)}, own_classes(own))
    assert_same({name: found[name] for name in energies(own)}, energies(own))
    assert len(found) == len(own_classes(own)) + len(energies(own))
    assert question_of(typicality_gate) == Question("typicality", "own")


def first(n_others: int):
    """A client with the three images above; somebody else has the training images after them."""
    return client(
        0,
        [2, 1, 0],
        asked_features=[[0.0, 2.0], [3.0, 0.0]],
        asked_logits=[[0.0, log(3), 50.0], [log(2), log(2), 50.0]],  # e = log 4 for both
        own_features=[*FEATURES, *[[1.0, 1.0]] * n_others],
        own_logits=[[0.0, 0.0, 50.0], [log(3), log(5), 50.0], [0.0, log(3), 50.0], *[[0.0] * 3] * n_others],
    )  # its own energies: log 2, log 8, log 4


def test_the_gate_by_hand():
    # the other client owns class 2 alone; both its images look alike, so its own t is 0 and never varies. Its asked
    # images look the same too: t̃ = 0, and its energies 4 and 2 (m = 3, d = 1) give ẽ = 0
    other = client(
        1,
        [0, 0, 2],
        asked_features=[[1.0, 0.0], [1.0, 0.0]],
        asked_logits=[[50.0, 50.0, 3.0], [50.0, 50.0, 3.0]],
        own_features=[[1.0, 0.0]] * 5,
        own_logits=[[0.0, 0.0, 4.0]] * 4 + [[0.0, 0.0, 2.0]],
    )
    found = answered(
        typicality_gate, Merged({}, [first(2), other]), Training([*LABELS, 2, 2], {0: [0, 1, 2], 1: [3, 4]})
    )
    # t̃ of the first client: (0 + 10/19)/d = √2 and (−15/19 + 10/19)/d = −1/√2; its ẽ is 0 for both
    at_mean, at_edge = -MEAN / DEVIATION, (-15 / 19 - MEAN) / DEVIATION
    assert (at_mean, at_edge) == pytest.approx((sqrt(2), -1 / sqrt(2)))
    gates = [3 * exp(t) / (3 * exp(t) + 2) for t in (sqrt(2), -1 / sqrt(2))]
    expected = [gates[0] / 4, gates[0] * 3 / 4, 1 - gates[0], gates[1] / 2, gates[1] / 2, 1 - gates[1]]
    assert flat(found) == pytest.approx(expected, rel=1e-4)


def test_an_image_unlike_anything_a_client_has_is_answered_by_the_other():
    # a client with a single image: no spread at all, so everything that is not its image is infinitely untypical
    single = client(
        1,
        [0, 0, 1],
        asked_features=[[-1.0, 0.0], [1.0, 0.0]],
        asked_logits=[[50.0, 50.0, 3.0]] * 2,
        own_features=[[1.0, 0.0]] * 4,
        own_logits=[[0.0, 0.0, 3.0]] * 4,
    )
    both, training = Merged({}, [first(1), single]), Training([*LABELS, 2], {0: [0, 1, 2], 1: [3]})
    found = answered(typicality_gate, both, training)
    assert flat(found[0]) == pytest.approx([1 / 4, 3 / 4, 0])
    g = 3 * exp(-1 / sqrt(2)) / (3 * exp(-1 / sqrt(2)) + 1)
    assert flat(found[1]) == pytest.approx([g / 2, g / 2, 1 - g], rel=1e-4)
    heard = answered(energy_gate, both, training)
    assert heard[0, 2].item() == pytest.approx(1 / 4)  # the energy alone does not notice
