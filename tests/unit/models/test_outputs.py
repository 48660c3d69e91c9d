from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from equipoise.models.classifier import Classifier
from equipoise.models.outputs import InputReader, outputs_of
from tests.conftest import untouched_rng


def classifier() -> Classifier:
    """The channels' means as features, after a dropout that would draw if it were not evaluation."""
    model = Classifier(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5)), 3, 2)
    with torch.no_grad():
        model.head.weight.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]))
        model.head.bias.copy_(torch.tensor([0.5, 0.0]))
    return model


def pixels(*greys: tuple[int, int, int]) -> np.ndarray:
    return np.broadcast_to(np.array(greys, np.uint8)[:, :, None, None], (len(greys), 3, 2, 2)).copy()


LENS = InputReader(mean=(0.0, 0.2, 1.0), std=(1.0, 0.5, 2.0), batch=2)
IMAGES = pixels((255, 51, 255), (0, 255, 0), (51, 0, 102))
# (x/255 − mean) / std of each channel
FEATURES = [[1, 0, 0], [0, 0.8 / 0.5, -1 / 2], [0.2, -0.2 / 0.5, (0.4 - 1) / 2]]
FLAT = [value for row in FEATURES for value in row]


def test_stored_pixels_are_normalised_once_and_come_in_batches():
    batches = list(InputReader(LENS.mean, LENS.std, 1).batches(IMAGES))
    assert [batch.shape for batch in batches] == [(1, 3, 2, 2)] * 3
    assert torch.cat(batches)[:, :, 0, 0].flatten().tolist() == pytest.approx(FLAT, abs=1e-6)


def test_features_and_logits_of_all_images_in_their_order_by_hand():
    seen = outputs_of(classifier(), IMAGES, LENS)
    assert seen.features.flatten().tolist() == pytest.approx(FLAT, abs=1e-6)
    logits = [value for a, b, c in FEATURES for value in (a + 0.5, b + c)]
    assert seen.logits.flatten().tolist() == pytest.approx(logits, abs=1e-6)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_images_per_pass_change_nothing(size):
    seen, other = (
        outputs_of(classifier(), IMAGES, LENS),
        outputs_of(classifier(), IMAGES, InputReader(LENS.mean, LENS.std, size)),
    )
    assert torch.allclose(seen.logits, other.logits, atol=1e-6)


def test_in_evaluation_mode_without_gradients_and_without_a_draw():
    model = classifier().train()
    before = IMAGES.copy()
    with untouched_rng():
        seen = outputs_of(model, IMAGES, LENS)
    assert not model.training
    assert not seen.logits.requires_grad
    assert np.array_equal(IMAGES, before)


def test_a_last_image_on_its_own_joins_the_batch_before_it():
    """BatchNorm cannot be measured on one image."""
    assert [len(batch) for batch in InputReader(LENS.mean, LENS.std, 2).batches(IMAGES)] == [3]
