from __future__ import annotations

import numpy as np
import torch
from torch import nn

from equipoise.evaluate.predictions import PredictionCache
from equipoise.evaluate.probe import probe
from equipoise.models.build import state_of
from equipoise.models.classifier import Classifier
from tests.conftest import untouched_rng

from .toys import SIZE, always, evaluator, images, predictions, splits


def spotted(labels) -> np.ndarray:
    """White in the row of the class, black elsewhere."""
    pixels = np.zeros((len(labels), 1, SIZE, SIZE), np.uint8)
    for row, label in zip(pixels, labels, strict=True):
        row[0, label] = 255
    return pixels


def flattening() -> Classifier:
    return Classifier(nn.Flatten(), 3 * SIZE * SIZE, 3)


def test_encoders_that_tell_the_classes_apart_get_one_whatever_their_heads_say():
    train, test = images([0, 1, 2] * 4), images([2, 1, 0, 2])
    seen = [type(part)(spotted(part.labels), part.labels) for part in (train, test)]
    given = PredictionCache(evaluator(splits(seen[0], seen[1], seen[1]), [list(range(12))], flattening()))
    states = [state_of(given.evaluator.model), {k: -v for k, v in state_of(given.evaluator.model).items()}]
    assert probe(given, states) == probe(given, states[:1]) == 1.0


def test_encoders_that_tell_nothing_apart_get_the_share_of_the_commonest_class():
    # every feature is 0, so the head is the shares of training, 3/5 for class 2; it is right for 1 of 4
    given = predictions([2, 0, 2, 1, 2], test=[0, 0, 1, 2], owners=[[0, 1, 2, 3, 4]])
    assert probe(given, [always(0, weight=0.0), always(1, weight=0.0)]) == 1 / 4


def test_two_encoders_together_see_what_neither_sees_alone():
    """One sees the sign of a − b, the other of a + b; the class is told by both."""
    model = Classifier(nn.Sequential(nn.Flatten(), nn.Linear(3 * SIZE * SIZE, 1, bias=False)), 1, 3)
    rows = {0: (255, 0), 1: (0, 255), 2: (0, 0)}

    def pixels(labels) -> np.ndarray:
        made = np.zeros((len(labels), 1, SIZE, SIZE), np.uint8)
        for image, label in zip(made, labels, strict=True):
            image[0, 0, 0], image[0, 0, 1] = rows[label]
        return made

    train, test = images([0, 1, 2] * 5), images([2, 1, 0])
    seen = [type(part)(pixels(part.labels), part.labels) for part in (train, test)]
    given = PredictionCache(evaluator(splits(seen[0], seen[1], seen[1]), [list(range(15))], model))
    start = state_of(model)

    def encoder(first: float, second: float):
        weight = torch.zeros_like(start["encoder.1.weight"])
        weight[0, 0], weight[0, 1] = first, second
        return {**start, "encoder.1.weight": weight}

    # of length 1: (1, −1, 0) and (1, 1, 0) for the three classes
    difference, total = encoder(1.0, -1.0), encoder(1.0, 1.0)
    assert probe(given, [difference, total]) == 1.0
    assert probe(given, [total]) < 1.0


def test_the_probe_changes_and_draws_nothing():
    given = predictions([0, 1, 2], test=[0, 1], owners=[[0], [1, 2]])
    states = [always(0), always(1)]
    before = [{name: tensor.clone() for name, tensor in state.items()} for state in states]
    with untouched_rng():
        probe(given, states)
    for state, kept in zip(states, before, strict=True):
        assert all(torch.equal(state[name], kept[name]) for name in kept)
