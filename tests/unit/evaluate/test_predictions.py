from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from equipoise.client.own import AT_LEAST, COMMON
from equipoise.core.values import Samples
from equipoise.evaluate.predictions import N_NOISE, PredictionCache
from equipoise.models.filters import common_filters
from equipoise.partition.drawn import DrawnOptions, drawn
from tests.conftest import untouched_rng

from .toys import SIZE, always, evaluator, images, predictions, splits


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
    asked = given.evaluator.asked
    assert sorted(asked) == sorted((id(s), n) for s in (one, other) for n in (2, 1, 2, N_NOISE))
    view = given.view("validation", {})
    view.outputs(one), view.noise(other)
    assert len(asked) == 8


def test_a_view_answers_for_its_own_split():
    given = predictions([0], [1, 2], [2, 0, 1])
    state = always(0)
    assert given.view("validation", {}).outputs(state) is given.at("validation", state)
    assert given.view("test", {}).outputs(state) is given.at("test", state)
    assert given.view("test", {}).noise(state) is given.at("noise", state)
    answers = {3: {"mean": torch.zeros(1)}}
    assert given.view("test", answers).answers is answers


def test_a_state_that_is_gone_is_never_mistaken_for_another():
    """Python gives the place of an object that is gone, and so its id, to the next one."""
    given, ids = predictions([0, 1], [0], [0], owners=[[0, 1]]), []
    for answer in (0, 1, 2) * 20:
        state = always(answer)
        ids.append(id(state))
        assert given.at("test", state).logits.argmax().item() == answer
        del state
    assert len(set(ids)) == len(ids)  # what was asked for is kept, so its place is taken


def test_of_more_training_images_than_allowed_some_are_looked_at_and_some_of_every_client():
    labels = [i % 3 for i in range(300)]
    owners = [list(range(0, 300, 2)), list(range(1, 300, 2))]
    given = predictions(labels, owners=owners, train_images=120)
    rows = given.evaluator.training_rows([])
    assert 120 <= len(rows) <= 120 + 2 * AT_LEAST
    assert all(set(own[:AT_LEAST]) <= set(rows.tolist()) for own in owners)
    assert rows.tolist() == sorted(set(rows.tolist()))
    train = given.samples["train"]
    assert train.labels.tolist() == [labels[row] for row in rows]
    assert given.at("train", always(0)).features.flatten().tolist() == [10 * label for label in train.labels]
    again = predictions(labels, owners=owners, train_images=120)
    assert np.array_equal(again.samples["train"].inputs, train.inputs)


def test_where_clients_are_drawn_when_asked_for_only_those_who_took_part_are_looked_at():
    labels = np.arange(300) % 3
    options = DrawnOptions(clients=1000, size=20)
    indices = drawn(labels, 3, options, seed=0)
    given = evaluator(splits(images(labels.tolist()), images([0]), images([0])), [], train_images=10)
    given = replace(given, indices=indices)
    alone = set(given.training_rows([]).tolist())
    assert len(alone) == 10
    assert set(given.training_rows([7, 2]).tolist()) == alone.union(*(indices[k][:AT_LEAST].tolist() for k in (2, 7)))


def test_the_noise_is_the_same_for_every_checkpoint_and_has_no_content():
    first, second = predictions([0]), predictions([1, 2])
    noise = first.samples["noise"].inputs
    assert noise.shape == (N_NOISE, 1, SIZE, SIZE)
    assert np.array_equal(noise, second.samples["noise"].inputs)
    assert noise.mean() == pytest.approx(255 / 2, rel=0.02)


def test_the_common_filters_look_once_per_split_for_all_checkpoints_of_a_run(rng):
    pixels = rng.integers(0, 256, (5, 1, 8, 8), dtype=np.uint8)
    own = Samples(pixels, np.array([0, 1, 2, 0, 1]))
    given = evaluator(splits(own, own.take(np.array([0])), own.take(np.array([1, 2]))), [[0, 1], [2, 3, 4]])
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
    asked = len(given.evaluator.asked)
    (first, of_first), (second, of_second) = (given.some("test", state, 20) for state in (known, unknown))
    assert torch.equal(first, second)
    assert torch.equal(of_first, of_second)
    assert len(of_first) == 20
    assert given.evaluator.asked[asked:] == [(id(unknown), 20)]
    assert given.some("test", known, None)[1].tolist() == labels


def test_looking_draws_nothing_from_the_global_generators():
    asked, state = evaluator(splits(images([0, 1, 2]), images([1]), images([2])), [[0, 1, 2]]), always(0)
    with untouched_rng():
        given = PredictionCache(asked)
        given.at("test", state), given.at("test", COMMON), given.at("noise", state)
