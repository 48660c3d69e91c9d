from __future__ import annotations

from statistics import mean, variance

import numpy as np
import pytest
import torch
from torch import nn

from equipoise.core.registry import PREDICTS
from equipoise.core.values import ClientState, ClientUpdate, Images, n_bytes
from equipoise.evaluate.predictions import AT_LEAST, N_NOISE, PredictionCache
from equipoise.models.build import state_of
from equipoise.models.classifier import Classifier
from equipoise.models.filters import common_filters
from equipoise.server.predict import COMMON, Merged
from tests.conftest import assert_same, untouched_rng

from .toys import SIZE, always, images, predictions, scorer, splits


def test_what_a_model_sees_in_a_split_by_hand():
    given = predictions([0], [1, 2], [2, 0, 1])
    seen = given.at("test", always(1, weight=3.0))
    assert seen.features.flatten().tolist() == pytest.approx([3 * 20, 0, 3 * 10], rel=1e-5)
    assert seen.logits.softmax(1)[0].tolist() == pytest.approx([1 / 4, 2 / 4, 1 / 4])
    assert given.labels("test").tolist() == [2, 0, 1]
    assert given.labels("validation").tolist() == [1, 2]


def test_a_state_is_looked_at_once_per_split():
    given, one, other = predictions([0, 1], [1], [2, 0]), always(0), always(1)
    for _ in range(3):
        for state in (one, other):
            for split in ("test", "validation", "train", "noise"):
                assert given.at(split, state) is given.at(split, state)
    asked = given.scorer.asked
    assert sorted(asked) == sorted((id(s), n) for s in (one, other) for n in (2, 1, 2, N_NOISE))
    view = given.view("validation")
    view.asked(one), view.noise(other)
    assert len(asked) == 8


def test_a_scene_answers_for_its_own_split():
    given = predictions([0], [1, 2], [2, 0, 1])
    state = always(0)
    assert given.view("validation").asked(state) is given.at("validation", state)
    assert given.view("test").asked(state) is given.at("test", state)
    assert given.view("test").noise(state) is given.at("noise", state)


@pytest.mark.parametrize(
    "asked",
    [
        lambda given, state: given.at("test", state).logits,
        lambda given, state: given.view("test").recalibrated(state)["head.bias"],
    ],
)
def test_a_state_that_is_gone_is_never_mistaken_for_another(asked):
    """Python gives the place of an object that is gone, and so its id, to the next one."""
    given, ids = predictions([0, 1], [0], [0], owners=[[0, 1]]), []
    for answer in (0, 1, 2) * 20:
        state = always(answer)
        ids.append(id(state))
        assert asked(given, state).argmax().item() == answer
        del state
    assert len(set(ids)) == len(ids)  # what was asked for is kept, so its place is taken


def told_rows(given: PredictionCache, client: int, *states):
    """The features of each model and the labels that a client's summary was given."""
    kept = {}

    def summary(seen, labels):
        kept["features"], kept["labels"] = [one.features.flatten().tolist() for one in seen], labels.tolist()
        return {"a": torch.zeros(3), "b": torch.zeros(2, dtype=torch.float64)}

    given.view("test").ask(client, states, summary)
    return kept["features"], kept["labels"]


def test_a_client_is_asked_of_its_own_images_only():
    given = predictions([0, 2, 1, 2, 0], owners=[[4, 1], [0, 2, 3]])
    assert told_rows(given, 0, always(0), always(0, weight=2.0)) == ([[20, 0], [40, 0]], [2, 0])
    assert told_rows(given, 1, always(0)) == ([[0, 10, 20]], [0, 1, 2])
    assert given.bytes_up == 2 * (3 * 4 + 2 * 8)


def test_a_model_that_the_client_does_not_hold_is_counted_on_its_way_down():
    given = predictions([0, 2, 1, 2, 0], owners=[[4, 1], [0, 2, 3]])
    own, other = always(0), always(0, weight=2.0)
    view = given.view("test", [ClientUpdate(0, 2, own, ClientState(), {})])
    view.ask(0, [own], lambda seen, labels: {})
    assert given.bytes_down == 0
    view.ask(0, [own, other, COMMON], lambda seen, labels: {})
    assert given.bytes_down == n_bytes(other)
    view.recalibrated(other)
    assert given.bytes_down == n_bytes(other) * (1 + len(given.reached))


def test_of_more_training_images_than_allowed_some_are_looked_at_and_clients_keep_their_own():
    labels = [i % 3 for i in range(300)]
    owners = [list(range(0, 300, 2)), list(range(1, 300, 2))]
    given = predictions(labels, owners=owners, train_images=120)
    shown = [told_rows(given, client, always(0)) for client in (0, 1)]
    drawn = len(given.images["train"])
    assert sum(len(own) for _, own in shown) == drawn
    assert 120 <= drawn <= 120 + 2 * AT_LEAST
    again = predictions(labels, owners=owners, train_images=120)
    assert np.array_equal(again.images["train"].pixels, given.images["train"].pixels)
    for (features,), own in shown:
        assert features == [10 * label for label in own]


@pytest.mark.parametrize("predict", ["energy-gate", "typicality-gate"])
def test_a_client_without_an_image_in_the_sample_still_gets_an_answer(predict):
    given = predictions([0, 1, 2] * 10, owners=[list(range(29)), [29]], train_images=3)
    assert len(given.own[1]) == 1
    clients = [ClientUpdate(k, n, always(2), ClientState(), {}, counts) for k, n, counts in TWO]
    answers = PREDICTS.find(predict).make(given.view("test"), Merged(always(0), clients))
    assert torch.isfinite(answers).all()


TWO = [(0, 29, [10, 10, 9]), (1, 1, [0, 0, 1])]
"""Clients, their images, and how many of each class."""


def test_the_noise_is_the_same_for_every_checkpoint_and_has_no_content():
    first, second = predictions([0]), predictions([1, 2])
    noise = first.images["noise"].pixels
    assert noise.shape == (N_NOISE, 1, SIZE, SIZE)
    assert np.array_equal(noise, second.images["noise"].pixels)
    assert noise.mean() == pytest.approx(255 / 2, rel=0.02)


def test_the_common_filters_look_once_per_split_for_all_checkpoints_of_a_run(rng):
    pixels = rng.integers(0, 256, (5, 1, 8, 8), dtype=np.uint8)
    own = Images(pixels, np.array([0, 1, 2, 0, 1]))
    given = scorer(splits(own, own.take(np.array([0])), own.take(np.array([1, 2]))), [[0, 1], [2, 3, 4]])
    first, second = PredictionCache(given), PredictionCache(given)
    seen = first.at("test", COMMON)
    assert seen is first.at("test", COMMON) is second.at("test", COMMON)
    assert seen.logits.shape == (2, 0)
    expected = common_filters(3, given.config.seed)(torch.tensor(pixels[1:3]).float().expand(-1, 3, -1, -1))
    assert torch.allclose(seen.features, expected, atol=1e-5)
    assert first.at("train", COMMON).features.shape == (5, 8 * 64)


def test_some_images_are_the_same_for_everybody_and_known_answers_are_used():
    labels = [i % 3 for i in range(50)]
    given = predictions([0], labels, labels)
    known, unknown = always(0, weight=1.0), always(0, weight=1.0)
    given.at("test", known)
    asked = len(given.scorer.asked)
    (first, of_first), (second, of_second) = (given.some("test", state, 20) for state in (known, unknown))
    assert torch.equal(first, second)
    assert torch.equal(of_first, of_second)
    assert len(of_first) == 20
    assert given.scorer.asked[asked:] == [(id(unknown), 20)]
    assert given.some("test", known, None)[1].tolist() == labels


def test_looking_draws_nothing_from_the_global_generators():
    asked, state = scorer(splits(images([0, 1, 2]), images([1]), images([2])), [[0, 1, 2]]), always(0)
    with untouched_rng():
        given = PredictionCache(asked)
        given.at("test", state), given.at("test", COMMON), given.view("test").recalibrated(state)


# four greys, (1, 5, 9, 3), and two, (2, 8), in batches of two images
GREYS, OWNERS = [1, 5, 9, 3, 2, 8], [[0, 1, 2, 3], [4, 5]]
N_PIXELS = SIZE * SIZE


def normalised() -> Classifier:
    """One BatchNorm on the pixels, then the mean of each channel."""
    return Classifier(nn.Sequential(nn.BatchNorm2d(3), nn.AdaptiveAvgPool2d(1), nn.Flatten()), 3, 2)


def measured(greys: list[int]) -> tuple[float, float]:
    """Mean and unbiased variance of the pixels of a batch."""
    pixels = [grey for grey in greys for _ in range(N_PIXELS)]
    return mean(pixels), variance(pixels)


def recalibrating(**evaluate):
    model, own = normalised(), images([0] * len(GREYS), GREYS)
    return scorer(splits(own, own, own, 2), OWNERS, model, **evaluate)


def test_recalibrated_statistics_are_plain_means_over_batches_weighed_by_samples():
    given = recalibrating(batch=2)
    before = state_of(given.model)
    before["encoder.0.running_mean"] += 100.0  # what was there does not count
    kept = {name: tensor.clone() for name, tensor in before.items()}
    found = given.recalibrated(before)
    first, second, third = (measured(greys) for greys in ([1, 5], [9, 3], [2, 8]))
    for at, name in enumerate(("running_mean", "running_var")):
        expected = 4 / 6 * (first[at] + second[at]) / 2 + 2 / 6 * third[at]
        assert found[f"encoder.0.{name}"].tolist() == pytest.approx([expected] * 3, rel=1e-5)
    assert_same(before, kept)
    statistics = {"encoder.0.running_mean", "encoder.0.running_var"}
    assert_same(*({k: v for k, v in state.items() if k not in statistics} for state in (found, before)))


def test_recalibration_leaves_the_networks_momentum_as_it_was():
    given = recalibrating(batch=2)
    given.model.encoder[0].momentum = 0.3
    given.recalibrated(state_of(given.model))
    assert given.model.encoder[0].momentum == 0.3


def test_a_model_is_recalibrated_once_and_without_batch_norm_nothing_changes():
    given = PredictionCache(recalibrating())
    state = state_of(given.scorer.model)
    assert given.view("test").recalibrated(state) is given.view("validation").recalibrated(state)
    plain = predictions([0, 1], owners=[[0], [1]])
    state = always(1)
    assert_same(plain.view("test").recalibrated(state), state)


def test_a_client_with_one_image_is_recalibrated_where_features_are_one_pixel():
    pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.BatchNorm2d(3), nn.Flatten())
    own = images([0] * len(GREYS), GREYS)
    given = scorer(splits(own, own, own, 2), [[0, 1, 2, 3], [4]], Classifier(pooled, 3, 2))
    assert torch.isfinite(given.recalibrated(state_of(given.model))["encoder.1.running_var"]).all()
