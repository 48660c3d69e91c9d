from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import torch
from torch import nn

from equipoise.client.own import COMMON, OwnSamples
from equipoise.core.values import Samples, State
from equipoise.data.inputs import PixelInputs
from equipoise.models.build import state_of
from equipoise.models.classifier import Classifier
from equipoise.models.outputs import InputReader

INPUTS = PixelInputs((0.0,) * 3, (1 / 255,) * 3)  # pixels as they are


def samples(*greys: int) -> Samples:
    pixels = np.broadcast_to(np.array(greys, np.uint8)[:, None, None, None], (len(greys), 1, 2, 2)).copy()
    return Samples(pixels, np.arange(len(greys)) % 2)


def network() -> Classifier:
    """The mean grey of an image as its one feature, times a weight."""
    return Classifier(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 1)), 1, 2)


def weighing(weight: float) -> State:
    state = state_of(network())
    return {**state, "encoder.2.weight": torch.full((1, 3), weight / 3), "encoder.2.bias": torch.zeros(1)}


def own(*models: State, common: nn.Module | None = None) -> OwnSamples:
    counts = np.array([5, 3])
    return OwnSamples(network(), common, models, samples(10, 20), samples(10, 20, 30), counts, InputReader(INPUTS, 8))


def test_each_model_in_turn_says_something_of_the_summarised_samples():
    given = own(weighing(1.0), weighing(3.0))
    found = [seen.features.flatten().tolist() for seen in given.outputs]
    assert found == [pytest.approx([10, 20], rel=1e-5), pytest.approx([30, 60], rel=1e-5)]
    assert [seen.logits.shape for seen in given.outputs] == [(2, 2)] * 2
    assert given.outputs is given.outputs  # asked once


def test_labels_are_of_the_summarised_samples_and_counts_of_all():
    given = own(weighing(1.0))
    assert given.labels.tolist() == [0, 1]
    assert given.counts.tolist() == [5, 3]
    assert len(given.everything) == 3


def test_the_common_encoder_stands_among_models_by_a_state_of_its_own():
    given = own(COMMON, weighing(1.0), common=nn.Flatten())
    assert given.outputs[0].features.shape == (2, 3 * 2 * 2)
    assert given.outputs[0].logits.shape == (2, 0)
    assert given.outputs[1].features.flatten().tolist() == pytest.approx([10, 20], rel=1e-5)


def test_an_empty_state_that_is_not_that_one_is_no_common_encoder():
    with pytest.raises(RuntimeError, match="Missing key"):
        own({}, common=nn.Flatten()).outputs  # noqa: B018


def test_where_there_is_no_common_encoder_it_says_so():
    with pytest.raises(AssertionError, match="no common encoder"):
        own(COMMON).outputs  # noqa: B018


def test_nobody_can_write_into_the_common_state():
    assert isinstance(COMMON, Mapping)
    with pytest.raises(TypeError):
        COMMON["w"] = torch.zeros(1)  # type: ignore[index]
