"""What a checkpoint's headline is shown beside: every other way to predict, and the probe."""

from __future__ import annotations

import pytest
import torch

from equipoise.core.registry import PREDICTS
from equipoise.core.values import ClientState, ClientUpdate
from equipoise.evaluate.accuracy import accuracy
from equipoise.evaluate.probe import probe
from equipoise.evaluate.score import beside, predicted, predictors, score
from equipoise.server.predict import Merged

from .toys import always, asked, predictions

ANY = {"common", "common-correction", "common-exchange", "common-gate", "energy-gate", "logit-ensemble",
       "parameter-average", "probability-ensemble", "statistics-exchange", "typicality-gate"}  # fmt: skip
PROTOTYPES = {"anchors", "feature-average", "iffi", "iffi-published"}


def names(model, broadcast=None) -> set[str]:
    return {entry.name for entry in predictors(Merged(model, [], broadcast or {}))}


def test_what_a_model_has_decides_who_may_answer():
    w = torch.zeros(1)
    assert names({"w": w}) == ANY
    assert names({"w": w, "head.prototypes": w}) == ANY | PROTOTYPES
    assert names({"encoder.1.running_mean": w}) == ANY | {"recalibrated-average"}
    assert names({"w": w}, broadcast={"means.features": w}) == ANY | {"nearest-mean"}
    everything = names({"head.prototypes": w, "a.running_mean": w}, broadcast={"means.features": w})
    assert everything == set(PREDICTS.names())


CLIENTS = [
    ClientUpdate(0, 4, always(0), ClientState(), {}, [2, 2, 0]),
    ClientUpdate(1, 2, always(1), ClientState(), {}, [0, 0, 2]),
]
MERGED = Merged(always(2), CLIENTS)


@pytest.fixture
def given():
    return predictions([0, 0, 1, 1, 2, 2], [1, 2], [0, 0, 0, 1, 2], owners=[[0, 1, 2, 3], [4, 5]])


@pytest.fixture
def answers(given):
    return asked(given.evaluator, MERGED, ANY)


def test_every_way_to_predict_on_test_and_on_validation_and_the_probe(given, answers):
    scores = beside(given, MERGED, answers)
    on = [f"accuracy/{split}/{name}" for split in ("merged", "validation") for name in ANY]
    assert scores.keys() == {(None, name) for name in [*on, "accuracy/probe"]}
    assert scores[None, "accuracy/merged/parameter-average"] == 1 / 5  # the merged model says 2
    assert scores[None, "accuracy/validation/parameter-average"] == 1 / 2
    # ⅔·(½, ¼, ¼) + ⅓·(¼, ½, ¼): class 0
    assert scores[None, "accuracy/merged/probability-ensemble"] == 3 / 5
    assert scores[None, "accuracy/validation/probability-ensemble"] == 0
    assert scores[None, "accuracy/probe"] == probe(given, [client.model for client in CLIENTS])


@pytest.mark.parametrize("predict", sorted(ANY))
def test_a_headline_is_what_stands_beside_under_its_own_name(given, answers, predict):
    shown, headline = beside(given, MERGED, answers), score(given, predict, MERGED, CLIENTS, answers)
    assert headline[None, "accuracy/merged"] == shown[None, f"accuracy/merged/{predict}"]
    assert headline[None, "accuracy/validation"] == shown[None, f"accuracy/validation/{predict}"]
    probabilities = predicted(given, predict, MERGED, "test", answers)
    assert headline[None, "accuracy/merged"] == accuracy(probabilities, given.labels("test"))


def test_only_those_of_the_given_names_and_the_probe(given, answers):
    scores = beside(given, MERGED, answers, names={"logit-ensemble"})
    on = ["accuracy/merged/logit-ensemble", "accuracy/validation/logit-ensemble", "accuracy/probe"]
    assert scores.keys() == {(None, name) for name in on}


def test_only_servers_that_ask_clients_are_told_anything(given, answers):
    report = {name: score(given, name, MERGED, CLIENTS, answers)[None, "bytes/told"] for name in sorted(ANY)}
    # a mean and a deviation from each of two clients, in single precision
    assert report["energy-gate"] == 2 * 2 * 4
    # G, S, m and c of two encoders with one feature each, in double precision, from each of two clients
    assert report["statistics-exchange"] == 2 * (2 * 2 + 2 * 3 + 2 + 3) * 8
    # the same of 512 common features in single precision
    assert report["common"] == report["common-gate"] == 2 * (512 * 512 + 512 * 3 + 512 + 3) * 4
    assert report["common-correction"] == report["common"]
    # and of these beside the two trained ones
    assert report["common-exchange"] == 2 * (514 * 514 + 514 * 3 + 514 + 3) * 4
    for name in ("parameter-average", "probability-ensemble", "logit-ensemble"):
        assert report[name] == 0


def test_each_state_is_looked_at_once_for_all_of_it(given, answers):
    beside(given, MERGED, answers)
    looked = given.evaluator.asked
    assert len(looked) == len(set(looked))
    assert {state for state, _ in looked} == {id(MERGED.model), *(id(client.model) for client in CLIENTS)}
