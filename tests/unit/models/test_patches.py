from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.data.photographs import crops
from equipoise.models.build import build_model
from equipoise.models.patches import (
    COMMON_FILTERS,
    EPSILON,
    GAMMA,
    PatchFeatures,
    Settings,
    common_encoder,
    fixed,
    planned,
    whitened_filters,
)
from equipoise.models.settings import PatchesOptions

SMALL = Settings(filters=3, size=3, cells=2, threshold=0.2, kept=None, directions="principal")
IMAGES = torch.randn(2, 1, 7, 6, generator=torch.Generator().manual_seed(0))


def by_hand(image: np.ndarray, filters: np.ndarray, cells: int, threshold: float) -> np.ndarray:
    """√q, position by position; a cell reaches from ⌊i·n/cells⌋ to ⌈(i + 1)·n/cells⌉."""
    size = filters.shape[-1]
    height, width = (side - size + 1 for side in image.shape[1:])
    responses = np.zeros((len(filters), height, width))
    for y in range(height):
        for x in range(width):
            patch = image[:, y : y + size, x : x + size]
            centred = (patch - patch.mean()) / np.sqrt(patch.var() + EPSILON)
            responses[:, y, x] = (filters * centred).sum((1, 2, 3))
    sides = np.concatenate([np.maximum(responses - threshold, 0), np.maximum(-responses - threshold, 0)])
    rows, columns = ([(k * n // cells, -(-(k + 1) * n // cells)) for k in range(cells)] for n in (height, width))
    pooled = [[side[a:b, c:d].mean() for a, b in rows for c, d in columns] for side in sides]
    return np.sqrt(np.array(pooled).T.ravel())


def test_features_are_those_of_the_formula():
    constants = fixed(SMALL, (1, 7, 6))
    found = PatchFeatures(constants)(IMAGES).numpy()
    filters = constants.filters.double().numpy()
    for image, row in zip(IMAGES.double().numpy(), found, strict=True):
        expected = by_hand(image, filters, 2, 0.2)
        mean, scale = constants.mean.flatten().numpy(), constants.scale.flatten().numpy()
        assert row == pytest.approx((expected - mean) / scale, abs=1e-3)


@pytest.mark.parametrize("directions", ["principal", "random"])
def test_kept_directions_are_orthonormal_and_turn_every_cell_alike(directions):
    plain = PatchFeatures(fixed(SMALL, (1, 7, 6)))(IMAGES).view(2, 4, 6)
    encoder = PatchFeatures(fixed(SMALL._replace(kept=4, directions=directions), (1, 7, 6)))
    v = encoder.directions
    assert torch.allclose(v.T @ v, torch.eye(4), atol=1e-5)
    found = encoder(IMAGES).view(2, 4, 4)
    for cell in range(4):
        assert torch.allclose(found[:, cell], plain[:, cell] @ v, atol=1e-4)


def test_principal_directions_show_more_of_the_photographs_than_random_ones():
    pictures = torch.from_numpy(crops(1, (7, 6), 500))
    spread = {}
    for directions in ("principal", "random"):
        encoder = PatchFeatures(fixed(SMALL._replace(kept=2, directions=directions), (1, 7, 6)))
        spread[directions] = encoder(pictures).var(0).sum()
    assert spread["principal"] > spread["random"]


def test_filters_see_no_brightness_and_whitened_contrast():
    """A filter is a vector of length 1 times Z, whose largest eigenvalue is at most 1/√γ."""
    filters = whitened_filters(SMALL._replace(filters=200), 1).flatten(1)
    assert filters.sum(1).abs().max() < 1e-4
    assert filters.norm(dim=1).max() <= GAMMA**-0.5 + 1e-4


def test_a_state_holds_the_head_only():
    model = build_model(PatchesOptions(filters=4, kept=3), (3, 8, 8), 5, 0)
    assert {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()} == {
        "head.weight": (5, 12),
        "head.bias": (5,),
    }


def test_an_image_and_its_mirror_image_look_the_same():
    images = torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    model = build_model(PatchesOptions(filters=4, kept=3), (3, 8, 8), 5, 0)
    assert torch.allclose(model(images).features, model(images.flip(3)).features, atol=1e-6)
    plain = build_model(PatchesOptions(filters=4, kept=3, mirror=False), (3, 8, 8), 5, 0)
    one, other = plain(images).features, plain(images.flip(3)).features
    assert not torch.allclose(one, other, atol=1e-3)
    assert torch.allclose(model(images).features, (one + other) / 2, atol=1e-6)


def test_the_runs_seed_has_no_part_in_the_features():
    images = torch.randn(1, 3, 8, 8)
    options = PatchesOptions(filters=4, kept=3)
    one, other = (build_model(options, (3, 8, 8), 5, seed)(images).features for seed in (0, 1))
    assert torch.equal(one, other)


def test_the_features_of_servers_are_those_of_the_first_filters_and_no_seed_has_a_part_in_them():
    assert COMMON_FILTERS == 400
    images = torch.randn(2, 1, 8, 8)
    one, other = (common_encoder((1, 8, 8), seed)(images) for seed in (0, 1))
    model = build_model(PatchesOptions(), (1, 8, 8), 5, 0)
    assert torch.equal(one, other)
    assert torch.equal(one, model(images).features)  # small images have fewer filters anyway


def test_images_smaller_than_a_filter_are_padded():
    model = build_model(PatchesOptions(filters=4, kept=3), (1, 4, 3), 5, 0)
    assert model(torch.randn(2, 1, 4, 3)).features.isfinite().all()


@pytest.mark.parametrize("changes", [{}, {"kept": 3}, {"kept": 99}, {"cells": 3}], ids=str)
def test_settings_know_how_many_features_there_will_be(changes):
    options = PatchesOptions(filters=4, **changes)
    assert build_model(options, (3, 8, 8), 5, 0).n_features == planned(options, (3, 8, 8)).n_features


def test_small_images_get_fewer_and_smaller_filters_unless_told_otherwise():
    assert planned(PatchesOptions(), (1, 8, 8))[:2] == (200, 3)
    assert planned(PatchesOptions(), (3, 32, 32))[:2] == planned(PatchesOptions(), (1, 28, 28))[:2] == (1250, 6)
    assert planned(PatchesOptions(filters=5, size=2), (1, 8, 8))[:2] == (5, 2)
