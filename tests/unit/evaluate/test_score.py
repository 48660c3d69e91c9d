from __future__ import annotations

from math import log

import numpy as np
import pytest
import torch

from equipoise.core.values import ClientState, ClientUpdate, Question, Samples, State, n_bytes
from equipoise.data.inputs import PixelInputs
from equipoise.data.splits import Splits
from equipoise.evaluate.predictions import Evaluator, PredictionCache
from equipoise.evaluate.score import chosen_clients, predicted, question_bytes, questions_of, score
from equipoise.models.build import build_model, state_of
from equipoise.models.filters import common_encoder
from equipoise.models.mlp import MlpOptions
from equipoise.server.predict import Merged
from tests.conftest import tiny, untouched_rng, update

CLASSES = 3


def images(labels) -> Samples:
    labels = np.array(labels)
    return Samples(np.zeros((len(labels), 1, 2, 2), np.uint8), labels)


def network(seed: int = 0):
    return build_model(MlpOptions(hidden=2), (3, 2, 2), CLASSES, seed)


def predictions(validation, test, **evaluate) -> PredictionCache:
    """Black images with those labels, and one client with a single image."""
    config = tiny(*(f"evaluate.{key}={value}" for key, value in evaluate.items()))
    parts = {"train": images([0]), "validation": images(validation), "test": images(test), "public": images([])}
    about = {"classes": ("a", "b", "c"), "inputs": PixelInputs((0.5,) * 3, (0.5,) * 3), "content": ""}
    return PredictionCache(
        Evaluator(network(), common_encoder((3, 2, 2), 0), Splits("toy", **parts, **about), config, [np.array([0])])
    )


def always(answer: int) -> State:
    """A network that says `answer` with probability ½ and each of the two others with ¼."""
    state = {name: torch.zeros_like(tensor) for name, tensor in state_of(network()).items()}
    return {**state, "head.bias": torch.tensor([log(2) if c == answer else 0.0 for c in range(CLASSES)])}


def test_the_merged_thing_by_hand():
    given = predictions([0, 0, 1, 2], [0, 0, 0, 1, 2])
    scores = score(given, "parameter-average", Merged(always(0), []), [])
    assert scores[None, "accuracy/validation"] == 2 / 4
    assert scores[None, "accuracy/merged"] == 3 / 5
    assert scores[None, "loss/merged"] == pytest.approx(-(3 * log(1 / 2) + 2 * log(1 / 4)) / 5)
    assert [scores[None, f"recall/{c}"] for c in range(3)] == [1, 0, 0]
    assert scores[None, "bytes/told"] == scores[None, "bytes/asked"] == 0
    assert len(scores) == 8


def test_the_best_client_is_chosen_on_validation_not_on_test():
    given = predictions([1, 1, 0], [0, 0, 0, 1])
    clients = [update(3, 1, always(0)), update(5, 1, always(1))]
    scores = score(given, "parameter-average", Merged(always(2), clients), clients)
    # on validation client 5 is best with 2/3; on test client 3 would be, with 3/4
    assert scores[None, "accuracy/best_client"] == 1 / 4
    assert scores[None, "accuracy/clients"] == (3 / 4 + 1 / 4) / 2
    assert (scores[3, "accuracy/test"], scores[5, "accuracy/test"]) == (3 / 4, 1 / 4)
    assert scores[None, "accuracy/validation"] == 0


def test_where_nothing_is_merged_validation_is_the_clients_mean():
    given = predictions([1, 1, 0], [0, 0, 0, 1])
    clients = [update(0, 1, always(0)), update(1, 1, always(1))]
    scores = score(given, None, Merged(always(2), clients), clients)
    assert scores[None, "accuracy/validation"] == (1 / 3 + 2 / 3) / 2
    assert not {(None, "accuracy/merged"), (None, "bytes/told")} & scores.keys()


def test_an_ensemble_is_asked_through_the_same_looks():
    given = predictions([1, 0], [1, 1, 0])
    clients = [update(0, 1, always(0)), update(1, 9, always(1))]
    scores = score(given, "probability-ensemble", Merged(always(2), clients), clients)
    assert scores[None, "accuracy/merged"] == 2 / 3
    assert scores[None, "loss/merged"] == pytest.approx(
        -(2 * log(0.1 / 4 + 0.9 / 2) + log(0.1 / 2 + 0.9 / 4)) / 3, rel=1e-6
    )


def test_nobody_to_score():
    assert score(predictions([0], [0]), None, Merged(always(0), []), []) == {}


def test_clients_are_scored_on_some_images_and_the_merged_thing_on_all(rng):
    labels = rng.integers(0, CLASSES, 200)
    given = predictions(labels, labels, client_images=40)
    client = update(0, 1, always(1))
    some = given.some("test", client.model, 40)[1]
    assert len(some) == 40
    scores = score(given, "parameter-average", Merged(always(1), [client]), [client])
    assert scores[None, "accuracy/merged"] == (labels == 1).mean()
    assert scores[0, "accuracy/test"] == pytest.approx((some == 1).float().mean().item())


def test_where_nothing_is_merged_clients_are_scored_on_all_images(rng):
    labels = rng.integers(0, CLASSES, 200)
    client = update(0, 1, always(1))
    scores = score(predictions(labels, labels, client_images=40), None, Merged(always(1), [client]), [client])
    assert scores[0, "accuracy/test"] == scores[None, "accuracy/clients"] == (labels == 1).mean()


@pytest.mark.parametrize("limit", [None, 100, 500])
def test_all_images_where_there_are_no_more(limit, rng):
    labels = rng.integers(0, CLASSES, 100)
    assert predictions([0], labels).some("test", always(0), limit)[1].tolist() == labels.tolist()


def test_the_size_of_a_forward_pass_changes_nothing(rng):
    labels, pixels = rng.integers(0, CLASSES, 25), rng.integers(0, 256, (25, 1, 2, 2), dtype=np.uint8)
    state = state_of(network(5))
    whole, parts = (predictions(labels, labels, batch=size).evaluator.outputs(state, pixels) for size in (100, 4))
    assert (whole.features.shape, whole.logits.shape) == ((25, 2), (25, CLASSES))
    assert torch.allclose(whole.features, parts.features, rtol=1e-5, atol=1e-7)
    assert torch.allclose(whole.logits, parts.logits, rtol=1e-5, atol=1e-7)


def test_scoring_is_in_evaluation_mode_and_draws_nothing():
    given = predictions([0], [0, 1])
    with untouched_rng():
        score(given, "parameter-average", Merged(always(0), []), [])
    assert not given.evaluator.model.training


def test_few_clients_are_all_scored_and_many_by_a_seeded_draw(seed):
    everybody = [update(k, 1, {}) for k in range(30)]
    assert chosen_clients(everybody, 30, seed, 0) == everybody
    some = [u.client for u in chosen_clients(everybody, 10, seed, step=0)]
    assert some == sorted(set(some))
    assert len(some) == 10
    assert some == [u.client for u in chosen_clients(everybody, 10, seed, step=0)]
    assert some != [u.client for u in chosen_clients(everybody, 10, seed, step=1)]
    assert chosen_clients(everybody, 0, seed, 0) == []


def test_each_question_is_asked_once_whoever_asks_it():
    names = ["common", "energy-gate", "parameter-average", "common-gate", "statistics-exchange", "energy-gate"]
    questions = [Question("common-sums", "common"), Question("energies", "own"), Question("joint-sums", "all")]
    assert questions_of(names) == questions
    assert questions_of(["model", "logit-ensemble", "iffi", "nearest-mean"]) == []


def test_a_way_to_predict_gets_the_answers_to_its_own_question():
    """One client that owns both classes is heard alone, whatever it answered."""
    given = predictions([0], [0, 1])
    energies = {0: {"mean": torch.tensor(0.0), "deviation": torch.tensor(1.0)}}
    answers = {Question("energies", "own"): energies, Question("common-sums", "common"): {0: {}}}
    client = ClientUpdate(0, 2, always(1), ClientState(), {}, [1, 1, 0])
    found = predicted(given, "energy-gate", Merged(always(0), [client]), "test", answers)
    assert found[0].tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    with pytest.raises(KeyError):
        predicted(given, "energy-gate", Merged(always(0), [client]), "test", {})


# 3 numbers of four bytes, and 5 of the second client; the merged model has 7
MODELS = [update(0, 1, {"w": torch.zeros(3)}), update(2, 1, {"w": torch.zeros(5)})]
MERGED = Merged({"w": torch.zeros(7)}, MODELS)
ANSWERS = {0: {"a": torch.zeros(2)}, 2: {"a": torch.zeros(2), "b": torch.zeros(1, dtype=torch.float64)}}


@pytest.mark.parametrize(
    ("through", "down"),
    [
        ("own", 0),  # a client has its own model
        ("common", 0),  # everybody draws the encoder
        ("merged", 2 * 7 * 4),  # to each who answers
        ("all", (5 + 3) * 4),  # to each the others' models
    ],
)
def test_bytes_of_a_question_are_models_that_a_client_does_not_hold_and_answers(through, down):
    question = Question("anything", through)
    found = question_bytes(question, MERGED, {question: ANSWERS})
    assert found == {(None, "bytes/told"): 2 * 4 + 2 * 4 + 8, (None, "bytes/asked"): down}
    assert found[None, "bytes/told"] == sum(n_bytes(answer) for answer in ANSWERS.values())


def test_a_merged_model_goes_to_everybody_who_is_asked_whether_they_trained_or_not():
    question = Question("batch-statistics", "merged")
    found = question_bytes(question, MERGED, {question: {k: {} for k in range(9)}})
    assert found == {(None, "bytes/told"): 0, (None, "bytes/asked"): 9 * 7 * 4}


def test_no_question_no_bytes():
    assert question_bytes(None, MERGED, {}) == {(None, "bytes/told"): 0, (None, "bytes/asked"): 0}
