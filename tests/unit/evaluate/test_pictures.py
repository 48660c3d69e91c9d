from __future__ import annotations

from dataclasses import replace

import torch

from equipoise.evaluate.pictures import pictures
from equipoise.evaluate.predictions import PredictionCache
from equipoise.models.build import state_of
from equipoise.models.heads import PrototypeHead
from equipoise.server.predict import Merged
from tests.conftest import assert_same, untouched_rng, update

from .toys import always, evaluator, images, network, predictions, splits

N_TEST = 700
LABELS = [i % 3 for i in range(N_TEST)]
CLIENTS = [update(0, 3, always(0)), update(4, 1, always(1, weight=0.5))]
MERGED = Merged(always(2), CLIENTS)


def test_at_most_five_hundred_images_their_labels_and_what_each_client_sees_in_them():
    kept = pictures(predictions([0], test=LABELS), MERGED, CLIENTS)
    assert set(kept) == {"labels", "features/0", "features/4"}
    assert kept["labels"].shape == (500,)
    assert kept["features/0"].shape == (500, 1)
    # a feature is the image's grey, ten times its label
    assert torch.equal(kept["features/0"].flatten(), (10 * kept["labels"]).half())
    assert torch.equal(kept["features/4"].flatten(), (5 * kept["labels"]).half())
    assert {name: tensor.dtype for name, tensor in kept.items() if name != "labels"} == {
        "features/0": torch.float16,
        "features/4": torch.float16,
    }


def test_fewer_images_are_all_kept_in_their_order():
    kept = pictures(predictions([0], test=[2, 0, 1, 1]), MERGED, CLIENTS)
    assert kept["labels"].tolist() == [2, 0, 1, 1]


def test_the_same_images_for_the_same_seed():
    greys = [i % 256 for i in range(N_TEST)]

    def drawn(seed: int):
        given = evaluator(splits(images([0]), images([0]), images(LABELS, greys)), [[0]])
        config = given.config.model_copy(update={"seed": seed})
        with untouched_rng():
            return pictures(PredictionCache(replace(given, config=config)), MERGED, CLIENTS)

    assert_same(drawn(3), drawn(3))
    assert not torch.equal(drawn(3)["features/0"], drawn(4)["features/0"])


def test_only_the_given_clients_are_drawn():
    assert set(pictures(predictions([0], test=[0, 1]), MERGED, CLIENTS[1:])) == {"labels", "features/4"}
    assert set(pictures(predictions([0], test=[0, 1]), MERGED, [])) == {"labels"}


def test_prototypes_and_anchors_where_there_are_any():
    model = network()
    model.head = PrototypeHead(torch.full((3, 1), 1 / 3), torch.eye(3, 1), None)
    merged = state_of(model)
    clients = [update(7, 1, {**merged, "head.prototypes": torch.full((3, 1), 0.1)})]
    given = PredictionCache(evaluator(splits(images([0]), images([0]), images([0, 1])), [[0]], model))
    kept = pictures(given, Merged(merged, clients), clients)
    assert set(kept) == {"labels", "features/7", "prototypes/7", "prototypes", "anchors"}
    assert kept["prototypes/7"].tolist() == torch.full((3, 1), 0.1).half().tolist()
    assert kept["prototypes"].tolist() == torch.full((3, 1), 1 / 3).half().tolist()
    assert kept["anchors"].tolist() == [[1], [0], [0]]
