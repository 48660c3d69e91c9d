from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.values import Images
from equipoise.evaluate.personal import by_client, local_images, merged_scores, own_scores, scores_of, summary

LOCAL = [np.array([1, 4]), np.array([0]), np.array([2, 3, 5])]
TRAIN = Images(np.arange(6, dtype=np.uint8).reshape(6, 1, 1, 1), np.array([0, 1, 2, 3, 4, 5]))
LABELS = np.array([1, 4, 0, 2, 3, 5])


def test_summary_by_hand():
    found = summary(np.array([0.2, 0.4, 0.9]))
    assert found["mean"] == pytest.approx(0.5)
    assert found["worst_tenth"] == 0.2
    assert found["spread"] == pytest.approx(np.sqrt((0.09 + 0.01 + 0.16) / 3))


@pytest.mark.parametrize(("clients", "worst"), [(1, 1), (10, 1), (11, 2), (20, 2), (100, 10)])
def test_the_worst_tenth_is_rounded_up(clients, worst):
    values = np.arange(clients, dtype=float)[::-1]
    assert summary(values)["worst_tenth"] == np.arange(worst).mean()


def test_equal_clients_have_no_spread():
    assert summary(np.full(7, 0.25)) == {"mean": 0.25, "worst_tenth": 0.25, "spread": 0.0}


def test_images_stand_one_client_after_another():
    images = local_images(TRAIN, LOCAL)
    assert images.labels.tolist() == LABELS.tolist()
    assert images.pixels.reshape(-1).tolist() == LABELS.tolist()


def test_answers_are_counted_for_their_client():
    right = np.array([True, False, True, False, False, True])
    assert by_client(right, LOCAL) == {0: 0.5, 1: 1.0, 2: pytest.approx(1 / 3)}
    scores = merged_scores(np.where(right, LABELS, 9), LABELS, LOCAL)
    assert scores[0, "accuracy/local"] == 0.5
    assert scores[None, "accuracy/local/mean"] == pytest.approx((0.5 + 1 + 1 / 3) / 3)
    assert scores[None, "accuracy/local/worst_tenth"] == pytest.approx(1 / 3)
    assert len(scores) == 3 + 3


def test_own_models_are_scored_on_their_own_images_only():
    scores = own_scores({0: np.array([1, 4]), 2: np.array([2, 9, 9])}, LABELS, LOCAL)
    assert scores[0, "accuracy/personal"] == 1
    assert scores[2, "accuracy/personal"] == pytest.approx(1 / 3)
    assert (1, "accuracy/personal") not in scores
    assert scores[None, "accuracy/personal/mean"] == pytest.approx(2 / 3)
    assert scores[None, "accuracy/personal/spread"] == pytest.approx(1 / 3)


def test_nobody_has_no_scores():
    assert scores_of("accuracy/personal", {}) == {}
    assert own_scores({}, LABELS, LOCAL) == {}
