from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from equipoise.client.own import AT_LEAST, COMMON, OwnSamples
from equipoise.core.codec import flatten
from equipoise.core.registry import PREDICTS
from equipoise.core.values import ClientState, ClientUpdate, Question, State, Task
from equipoise.data.inputs import PixelInputs
from equipoise.evaluate.predictions import PredictionCache
from equipoise.evaluate.score import predicted
from equipoise.kind.samples.site import KEPT, SampleSite, models_of
from equipoise.method.answers import Exchange
from equipoise.run.build import build
from equipoise.server.predict import Merged, question_of
from tests.conftest import assert_same, tiny, untouched_rng
from tests.unit.engine.conftest import BAD_CLIENT, a_site, start_of
from tests.unit.evaluate.toys import always, asked, evaluator, images, site_of, splits

OWN, MERGED, ALL, OF_COMMON = (Question("anything", through) for through in ("own", "merged", "all", "common"))


def toy(labels, owners, **evaluate) -> SampleSite:
    return site_of(evaluator(splits(images(labels), images([0]), images([0])), owners, **evaluate))


def task(client: int, question: Question = OWN, shared: State | None = None, model: State | None = None) -> Task:
    return Task(0, client, range(0), shared or {}, ClientState(model=model or {}), question)


def own(site: SampleSite, client: int, *models: State) -> OwnSamples:
    """A client's samples, seen through those models, all of which were sent to it."""
    sent = flatten({str(k): model for k, model in enumerate(models)})
    return site.own(site.network(), task(client, ALL, sent))


def test_one_channel_is_repeated_to_three():
    assert a_site().train.inputs.shape[1:] == (1, 8, 8)
    assert a_site().shape == (3, 8, 8)


def test_the_label_counts_of_a_client_include_classes_it_does_not_have():
    site = a_site()
    for client, index in enumerate(site.indices):
        if client == BAD_CLIENT:
            continue
        counts = site.counts(client)
        assert len(counts) == site.n_classes
        assert counts.sum() == len(index) == site.samples(client)
        assert all(counts[c] == (site.train.labels[index] == c).sum() for c in range(site.n_classes))


def test_what_is_shared_makes_the_same_site_again():
    site = build(tiny("data.local_test=0.2")).site
    arrays, facts = site.shared()
    back = SampleSite.of_shared(site.config, site.method, arrays, facts)
    assert (back.n_classes, back.inputs, back.shape) == (site.n_classes, site.inputs, site.shape)
    assert isinstance(back.inputs, PixelInputs)
    for theirs, ours in ((back.indices, site.indices), (back.local_tests, site.local_tests)):
        assert [part.tolist() for part in theirs] == [part.tolist() for part in ours]
    assert len(site.local_tests) == 3


def test_a_client_is_asked_of_its_own_images_only():
    site = toy([0, 2, 1, 2, 0], [[4, 1], [0, 2, 3]])
    first = own(site, 0, always(0), always(0, weight=2.0))
    assert [seen.features.flatten().tolist() for seen in first.outputs] == [[20, 0], [40, 0]]
    assert first.labels.tolist() == [2, 0]
    assert first.counts.tolist() == [1, 0, 1]
    second = own(site, 1, always(0))
    assert [seen.features.flatten().tolist() for seen in second.outputs] == [[0, 10, 20]]
    assert second.labels.tolist() == [0, 1, 2]


def test_of_more_training_images_than_allowed_some_are_summarised_and_clients_keep_their_own():
    labels = [i % 3 for i in range(300)]
    owners = [list(range(0, 300, 2)), list(range(1, 300, 2))]
    given = evaluator(splits(images(labels), images([0]), images([0])), owners, train_images=120)
    told = [own(site_of(given), client, always(0)) for client in (0, 1)]
    together = sum(len(one.samples) for one in told)
    assert together == len(given.training_rows([])) == len(PredictionCache(given).samples["train"])
    assert 120 <= together <= 120 + 2 * AT_LEAST
    for client, one in enumerate(told):
        assert one.outputs[0].features.flatten().tolist() == [10 * label for label in one.labels.tolist()]
        assert len(one.samples) >= AT_LEAST
        assert one.everything.labels.tolist() == [labels[row] for row in owners[client]]  # it has them all
        assert one.counts.tolist() == np.bincount(one.everything.labels, minlength=3).tolist()
    again = own(site_of(given), 0, always(0))
    assert np.array_equal(again.samples.inputs, told[0].samples.inputs)


TWO = [(0, 29, [10, 10, 9]), (1, 1, [0, 0, 1])]
"""Clients, their images, and how many of each class."""


@pytest.mark.parametrize("predict", ["energy-gate", "typicality-gate"])
def test_a_client_without_an_image_in_the_draw_still_answers(predict):
    owners = [list(range(29)), [29]]
    given = evaluator(splits(images([0, 1, 2] * 10), images([0]), images([0, 1])), owners, train_images=3)
    merged = Merged(always(0), [ClientUpdate(k, n, always(2), ClientState(), {}, counts) for k, n, counts in TWO])
    assert len(own(site_of(given), 1, always(0)).samples) == 1
    answers = asked(given, merged, [predict])
    assert answers[question_of(PREDICTS.find(predict).make)].keys() == {0, 1}
    assert torch.isfinite(predicted(PredictionCache(given), predict, merged, "test", answers)).all()


def test_the_models_of_a_question_are_those_that_its_task_brings():
    mine, merged = always(0), always(1)
    assert models_of(task(0, OWN, model=mine)) == [mine]
    assert models_of(task(0, MERGED, shared=merged)) == [merged]
    assert models_of(task(0, OF_COMMON))[0] is COMMON
    many = {str(k): {"w": torch.tensor(float(k))} for k in (10, 9, 2)}
    found = models_of(task(0, ALL, shared=flatten(many)))
    assert [model["w"].item() for model in found] == [2, 9, 10]  # by number, not by name


def test_what_the_common_encoder_says_is_worked_out_once_and_only_the_newest_are_remembered():
    site = toy([0, 1, 2] * (KEPT + 1), [list(range(3 * k, 3 * k + 3)) for k in range(KEPT + 1)])
    recipe, question = site.recipe(), Question("common-sums", "common")
    first = site.answer(recipe, task(0, question))
    assert site.answer(recipe, task(0, question)) is first
    assert first["gram"].shape == (512, 512)
    assert first["counts"].tolist() == [1, 1, 1]
    for client in range(1, KEPT + 1):
        site.answer(recipe, task(client, question))
    again = site.answer(recipe, task(0, question))
    assert again is not first
    assert_same(again, first)


def test_what_a_trained_model_says_is_worked_out_each_time():
    site, question = toy([0, 1, 2], [[0, 1, 2]]), Question("energies", "own")
    recipe = site.recipe()
    one, other = (site.answer(recipe, task(0, question, model=always(0, weight=1.0) | bias)) for bias in BIASES)
    assert one["mean"].item() != other["mean"].item()


BIASES = [{"head.bias": torch.zeros(3)}, {"head.bias": torch.ones(3)}]


def test_answering_draws_nothing_from_the_global_generators():
    site = toy([0, 1, 2], [[0, 1, 2]])
    recipe, model = site.recipe(), always(1)
    with untouched_rng():
        site.answer(recipe, task(0, Question("common-sums", "common")))
        site.answer(recipe, task(0, Question("typicality", "own"), model=model))


def test_a_client_begins_with_what_the_method_makes_of_the_servers_model_and_then_keeps_its_own():
    def begin(start: State) -> State:
        return {"control": torch.zeros_like(start["head.bias"]), "kept": torch.tensor(1.0)}

    site = a_site(n_clients=3)
    site = replace(site, method=replace(site.method, exchange=Exchange(begin=begin)))
    feed, start = site.recipe().feed, start_of(site)
    assert_same(feed(Task(0, 0, range(1), start)).memory(), begin(start))
    kept = ClientState(memory={"kept": torch.tensor(5.0)})
    assert feed(Task(1, 0, range(1), start, kept)).memory()["kept"].item() == 5
    assert a_site(n_clients=3).recipe().feed(Task(0, 0, range(1), start)).memory() == {}


def test_held_out_images_are_the_clients_own_and_none_without_them():
    site = build(tiny("data.local_test=0.3")).site
    held = site.own(site.network(), task(1, OWN, model=start_of(site))).held_out
    assert held is not None
    assert held.labels.tolist() == site.train.labels[site.local_tests[1]].tolist()
    plain = build(tiny()).site
    assert plain.own(plain.network(), task(1, OWN)).held_out is None
