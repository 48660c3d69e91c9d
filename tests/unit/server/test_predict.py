from __future__ import annotations

from math import exp, log

import pytest
import torch

from equipoise.config.traits import ONE_MODEL
from equipoise.core.registry import PREDICTS
from equipoise.core.values import Question
from equipoise.models.classifier import ModelOutput
from equipoise.server.predict import (
    Merged,
    ServerView,
    asks,
    logit_ensemble,
    ordered,
    parameter_average,
    probability_ensemble,
    question_of,
    shares,
)
from tests.conftest import update, view

# one image, two classes: softmax(0, log 3) = (1/4, 3/4), softmax(log 4, 0) = (4/5, 1/5)
ONE = {"logits": torch.tensor([[0.0, log(3)]])}
TWO = {"logits": torch.tensor([[log(4), 0.0]])}
MERGED = Merged({"logits": torch.tensor([[0.0, 0.0]])}, [update(0, 30, ONE), update(1, 10, TWO)])
VIEW = view(lambda state: ModelOutput(torch.zeros(1, 0), state["logits"]))


def test_the_merged_model_answers():
    assert parameter_average(VIEW, MERGED).tolist() == [[0.5, 0.5]]


def test_the_mean_of_probabilities():
    expected = [0.75 / 4 + 0.25 * 4 / 5, 0.75 * 3 / 4 + 0.25 / 5]
    assert probability_ensemble(VIEW, MERGED).flatten().tolist() == pytest.approx(expected)


def test_the_probabilities_of_the_mean_logits():
    first, second = 0.25 * log(4), 0.75 * log(3)
    total = exp(first) + exp(second)
    expected = [exp(first) / total, exp(second) / total]
    assert logit_ensemble(VIEW, MERGED).flatten().tolist() == pytest.approx(expected)


@pytest.mark.parametrize("predict", [parameter_average, probability_ensemble, logit_ensemble])
def test_answers_are_probabilities_whatever_the_order_of_the_clients(predict):
    there = predict(VIEW, MERGED)
    back = predict(VIEW, Merged(MERGED.model, MERGED.clients[::-1]))
    assert torch.equal(there, back)
    assert there.sum().item() == pytest.approx(1)
    assert there.min() >= 0


def test_what_a_way_to_predict_asks_is_marked_on_it():
    @asks("energies", through="all")
    def asking(view: ServerView, merged: Merged) -> torch.Tensor:
        return view.outputs(merged.model).logits

    assert question_of(asking) == Question("energies", "all")
    assert asking(VIEW, MERGED).tolist() == [[0, 0]]
    assert [question_of(one) for one in (parameter_average, probability_ensemble, logit_ensemble)] == [None] * 3


def test_clients_are_put_in_order_and_weigh_as_many_images_as_they_have():
    clients = ordered(Merged(MERGED.model, MERGED.clients[::-1]))
    assert [client.client for client in clients] == [0, 1]
    assert shares(clients) == [30 / 40, 10 / 40]


@pytest.mark.parametrize("name", ["parameter-average", "probability-ensemble", "logit-ensemble"])
def test_a_way_to_predict_is_found_by_its_name(name):
    assert PREDICTS.find(name).make(VIEW, MERGED).shape == (1, 2)
    assert PREDICTS.find(name).traits <= {ONE_MODEL}  # any model will do
    assert PREDICTS.find("model").name == "parameter-average"
