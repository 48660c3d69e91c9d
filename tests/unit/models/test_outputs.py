from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from equipoise.data.inputs import PixelInputs
from equipoise.models.classifier import Classifier
from equipoise.models.outputs import FEW, InputReader, common_outputs, input_statistics, outputs_of
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


INPUTS = PixelInputs(mean=(0.0, 0.2, 1.0), std=(1.0, 0.5, 2.0))
READER = InputReader(INPUTS, batch=2)
IMAGES = pixels((255, 51, 255), (0, 255, 0), (51, 0, 102))
# (x/255 − mean) / std of each channel
FEATURES = [[1, 0, 0], [0, 0.8 / 0.5, -1 / 2], [0.2, -0.2 / 0.5, (0.4 - 1) / 2]]
FLAT = [value for row in FEATURES for value in row]


def test_stored_pixels_are_normalised_once_and_come_in_batches():
    batches = list(InputReader(INPUTS, 1).batches(IMAGES))
    assert [batch.shape for batch in batches] == [(1, 3, 2, 2)] * 3
    assert torch.cat(batches)[:, :, 0, 0].flatten().tolist() == pytest.approx(FLAT, abs=1e-6)


def test_features_and_logits_of_all_images_in_their_order_by_hand():
    seen = outputs_of(classifier(), IMAGES, READER)
    assert seen.features.flatten().tolist() == pytest.approx(FLAT, abs=1e-6)
    logits = [value for a, b, c in FEATURES for value in (a + 0.5, b + c)]
    assert seen.logits.flatten().tolist() == pytest.approx(logits, abs=1e-6)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_images_per_pass_change_nothing(size):
    seen, other = (
        outputs_of(classifier(), IMAGES, READER),
        outputs_of(classifier(), IMAGES, InputReader(INPUTS, size)),
    )
    assert torch.allclose(seen.logits, other.logits, atol=1e-6)


def test_in_evaluation_mode_without_gradients_and_without_a_draw():
    model = classifier().train()
    before = IMAGES.copy()
    with untouched_rng():
        seen = outputs_of(model, IMAGES, READER)
    assert not model.training
    assert not seen.logits.requires_grad
    assert np.array_equal(IMAGES, before)


def test_a_last_image_on_its_own_joins_the_batch_before_it():
    """BatchNorm cannot be measured on one image."""
    assert [len(batch) for batch in InputReader(INPUTS, 2).batches(IMAGES)] == [3]


def test_the_common_encoder_gives_features_of_what_a_network_would_take_and_no_logits():
    encoder = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    many = np.concatenate([IMAGES] * 30)
    seen = common_outputs(encoder, many, InputReader(INPUTS, 512))
    assert seen.features.flatten().tolist() == pytest.approx(FLAT * 30, abs=1e-6)
    assert seen.logits.shape == (90, 0)


def test_the_common_encoder_takes_few_samples_at_a_time_and_those_that_are_no_images():
    sizes: list[int] = []

    def encoder(batch: torch.Tensor) -> torch.Tensor:
        sizes.append(len(batch))
        return 2 * batch

    class Rows:
        def prepare(self, stored: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(stored)

    stored = np.arange(2 * (FEW + 5), dtype=np.float32).reshape(-1, 2)
    assert torch.equal(common_outputs(encoder, stored, InputReader(Rows(), 512)).features, 2 * torch.from_numpy(stored))
    assert sizes == [FEW, 5]


def test_mean_and_deviation_of_what_enters():
    found = input_statistics(torch.tensor([[1.0, 2.0], [3.0, 6.0]]), "eval")
    assert found == {"input/mean/eval": 3.0, "input/std/eval": pytest.approx((14 / 3) ** 0.5)}
