from __future__ import annotations

from math import sqrt

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.models.build import build_model, state_of
from equipoise.models.filters import EPSILON, N_FILTERS, SIZE, FiltersOptions, common_filters
from tests.conftest import assert_same, untouched_rng

N = 3 * SIZE * SIZE
"""Entries of a patch of three channels."""
PHI = common_filters(3, 0)


def quarters(images: torch.Tensor) -> torch.Tensor:
    """φ as [B, 2, filters, 2, 2]: positive and negative parts of each filter in each quarter."""
    return PHI(images).reshape(len(images), 2, N_FILTERS, 2, 2)


@pytest.mark.parametrize("value", [0.0, 1.0, -3.5])
def test_an_image_without_content_has_no_features(value):
    assert PHI(torch.full((2, 3, 9, 11), value)).abs().max().item() < 1e-5


@pytest.mark.parametrize("scale", [0.5, -0.5, 40.0])
def test_a_patch_that_is_a_filter_by_hand(scale):
    # patch − mean = scale·w_j with ‖w_j‖ = 1, so r_j = scale/√(scale² + ε·n); its one place is in every quarter
    j, grey = 5, 0.7
    found = quarters(scale * PHI.filters[j][None] + grey)[0]
    r = scale / sqrt(scale**2 + EPSILON * N)
    assert found[0, j].flatten().tolist() == pytest.approx([max(r, 0)] * 4, abs=1e-5)
    assert found[1, j].flatten().tolist() == pytest.approx([max(-r, 0)] * 4, abs=1e-5)


def test_other_filters_of_that_patch_answer_with_the_angle_between_them():
    found = quarters(40.0 * PHI.filters[5][None])[0]
    r = 40.0 * (PHI.filters.flatten(1) @ PHI.filters[5].flatten()) / sqrt(40.0**2 + EPSILON * N)
    assert torch.allclose(found[0, :, 0, 0], r.relu(), atol=1e-5)
    assert torch.allclose(found[1, :, 0, 0], (-r).relu(), atol=1e-5)


def test_features_are_means_over_places(seed):
    """7×7 places: each quarter has 4×4 of them, the middle row and column belong to both sides."""
    images = torch.randn(1, 3, 12, 12, generator=torch.Generator().manual_seed(seed))
    patches = torch.stack([images[0, :, y : y + 6, x : x + 6].flatten() for y in range(7) for x in range(7)])
    rest = patches - patches.mean(1, keepdim=True)
    r = (rest @ PHI.filters.flatten(1).T) / (rest.square().sum(1, keepdim=True) + EPSILON * N).sqrt()
    places = r.T.reshape(N_FILTERS, 7, 7)
    sides = (slice(0, 4), slice(3, 7))
    for sign, part in ((1, 0), (-1, 1)):
        expected = torch.stack([(sign * places[:, y, x]).relu().mean((1, 2)) for y in sides for x in sides], 1)
        assert torch.allclose(quarters(images)[0, part].flatten(1), expected, atol=1e-5)


def test_what_is_in_one_quarter_is_seen_there_only():
    images = torch.zeros(1, 3, 24, 24)
    images[:, :, :6, 18:] = torch.arange(6.0)  # top right
    found = quarters(images)[0].sum((0, 1))
    assert found[0, 1] > 0.1
    assert found.flatten()[[0, 2, 3]].tolist() == pytest.approx([0, 0, 0], abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 30), st.floats(-3, 3))
def test_a_response_is_never_more_than_one(seed, scale, grey) -> None:
    """|w·v| ≤ ‖w‖·‖v‖ (Cauchy–Schwarz), and ‖w‖ = 1."""
    images = scale * torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(seed)) + grey
    found = PHI(images)
    assert found.min() >= 0
    assert found.max() <= 1
    assert quarters(images).sum(1).max() <= 1 + 1e-5  # |r| = relu r + relu −r


def test_filters_are_centred_and_of_length_one():
    rows = PHI.filters.flatten(1)
    assert rows.shape == (N_FILTERS, N)
    assert torch.allclose(rows.norm(dim=1), torch.ones(N_FILTERS))
    assert rows.mean(1).abs().max() < 1e-6


def test_everybody_with_the_seed_draws_the_same_and_disturbs_nobody():
    with untouched_rng():
        again = common_filters(3, 0)
    assert torch.equal(again.filters, PHI.filters)
    assert not torch.equal(common_filters(3, 1).filters, PHI.filters)
    torch.manual_seed(99)
    assert torch.equal(common_filters(3, 0).filters, PHI.filters)


def test_images_smaller_than_a_filter():
    assert PHI(torch.zeros(1, 3, 4, 4)).shape == (1, 8 * N_FILTERS)


def test_as_a_model_only_its_head_is_trained():
    model = build_model(FiltersOptions(filters=5), (3, 8, 8), 4, seed=2)
    assert model.n_features == 8 * 5
    assert [name for name, _ in model.named_parameters()] == ["head.weight", "head.bias"]
    seen = model(torch.zeros(2, 3, 8, 8))
    assert (seen.features.shape, seen.logits.shape) == ((2, 40), (2, 4))
    assert_same(state_of(model), state_of(build_model(FiltersOptions(filters=5), (3, 8, 8), 4, seed=2)))
