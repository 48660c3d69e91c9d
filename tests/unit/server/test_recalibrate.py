from __future__ import annotations

from math import log
from statistics import mean, variance

import pytest
import torch
from torch import nn

from equipoise.core.values import Question, State
from equipoise.evaluate.predictions import Evaluator
from equipoise.models.build import state_of
from equipoise.models.classifier import Classifier
from equipoise.server.predict import Merged, question_of
from equipoise.server.recalibrate import SAMPLES, recalibrated, recalibrated_average, statistics_of
from tests.conftest import assert_same, untouched_rng
from tests.unit.evaluate.toys import SIZE, always, asked, evaluator, images, splits

from .views import RUNNING_MEAN, client, flat, view


def test_the_recalibrated_merged_model_answers_not_the_merged_one_nor_a_client():
    # the view adds the running mean to the logits: (9, 0) with the merged model's own, (0, log 3) with the clients'
    merged = {"asked.logits": torch.tensor([[0.0, 0.0]]), RUNNING_MEAN: torch.tensor([9.0, 0.0])}
    answers = {0: {RUNNING_MEAN: torch.tensor([0.0, log(3)]), SAMPLES: torch.tensor(2)}}
    one = client(0, [1, 1], asked_logits=[[5.0, 0.0]])
    found = recalibrated_average(view(answers=answers), Merged(merged, [one]))
    assert flat(found) == pytest.approx([1 / 4, 3 / 4])


def test_it_asks_everybody_for_statistics_of_the_merged_model():
    assert question_of(recalibrated_average) == Question("batch-statistics", "merged")


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


def recalibrating(owners=OWNERS, model: Classifier | None = None, **evaluate) -> Evaluator:
    own = images([0] * len(GREYS), GREYS)
    return evaluator(splits(own, own, own, 2), owners, model or normalised(), **evaluate)


def measured_by_all(given: Evaluator, state: State) -> dict[int, State]:
    """Every client's answer, of all clients: those who did not train are asked too."""
    return asked(given, Merged(state, []), ["recalibrated-average"])[Question("batch-statistics", "merged")]


def test_recalibrated_statistics_are_plain_means_over_batches_weighed_by_samples():
    given = recalibrating(batch=2)
    before = state_of(given.model)
    before["encoder.0.running_mean"] += 100.0  # what was there does not count
    kept = {name: tensor.clone() for name, tensor in before.items()}
    found = recalibrated(before, measured_by_all(given, before))
    first, second, third = (measured(greys) for greys in ([1, 5], [9, 3], [2, 8]))
    for at, name in enumerate(("running_mean", "running_var")):
        expected = 4 / 6 * (first[at] + second[at]) / 2 + 2 / 6 * third[at]
        assert found[f"encoder.0.{name}"].tolist() == pytest.approx([expected] * 3, rel=1e-5)
    assert_same(before, kept)
    statistics = {"encoder.0.running_mean", "encoder.0.running_var"}
    assert_same(*({k: v for k, v in state.items() if k not in statistics} for state in (found, before)))


def test_a_client_answers_with_its_statistics_and_its_samples_and_nothing_else():
    answers = measured_by_all(given := recalibrating(batch=2), state_of(given.model))
    assert answers.keys() == {0, 1}
    for who, n in ((0, 4), (1, 2)):
        assert answers[who].keys() == {"encoder.0.running_mean", "encoder.0.running_var", SAMPLES}
        assert answers[who][SAMPLES].item() == n


def test_all_of_a_clients_samples_count_however_few_are_summarised():
    given = recalibrating(batch=2, train_images=1)
    everything = recalibrating(batch=2)
    start = state_of(given.model)
    for who, answer in measured_by_all(given, start).items():
        assert_same(answer, measured_by_all(everything, start)[who])


def test_recalibration_leaves_the_networks_momentum_as_it_was():
    given = recalibrating(batch=2)
    given.model.encoder[0].momentum = 0.3
    measured_by_all(given, state_of(given.model))
    assert given.model.encoder[0].momentum == 0.3


def test_measuring_draws_nothing_and_answers_are_no_views_of_the_network():
    given = recalibrating(batch=2)
    with untouched_rng():
        answers = measured_by_all(given, state_of(given.model))
    before = {name: tensor.clone() for name, tensor in answers[0].items()}
    given.model.encoder[0].reset_running_stats()
    assert_same(answers[0], before)


def test_without_batch_norm_nothing_changes():
    given = evaluator(splits(images([0, 1]), images([0]), images([0])), [[0], [1]])
    state = always(1)
    assert_same(recalibrated(state, measured_by_all(given, state)), state)


@pytest.mark.parametrize("owners", [[[0, 1, 2, 3], [4]], [[4], [0, 1, 2, 3]]])
def test_a_client_with_one_image_is_recalibrated_where_features_are_one_pixel(owners):
    """One image has no variance: it takes no part, in whatever order clients come."""
    pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.BatchNorm2d(3), nn.Flatten())
    given = recalibrating(owners, Classifier(pooled, 3, 2), batch=2)
    start = state_of(given.model)
    found = recalibrated(start, measured_by_all(given, start))
    # greys (1, 5) and (9, 3) of the other client
    assert found["encoder.1.running_mean"].tolist() == pytest.approx([4.5] * 3)
    assert found["encoder.1.running_var"].tolist() == pytest.approx([(8 + 18) / 2] * 3)


def test_where_nobody_has_two_images_the_model_stays_as_it_is():
    given = recalibrating([[0], [4]])
    start = state_of(given.model)
    assert_same(recalibrated(start, measured_by_all(given, start)), start)
    assert_same(recalibrated(start, {}), start)


def test_statistics_are_running_means_and_variances():
    names = ["a.running_mean", "a.running_var", "a.num_batches_tracked", "a.weight", "running_mean_of"]
    assert set(statistics_of({name: torch.zeros(1) for name in names})) == {"a.running_mean", "a.running_var"}
