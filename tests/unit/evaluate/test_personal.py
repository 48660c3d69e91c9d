from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.evaluate.personal import personal_scores, scores_of, summary
from equipoise.server.local_accuracy import OF_MERGED, OF_OWN


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


def test_answers_of_clients_about_both_models_become_scores():
    shares = {OF_OWN: {0: 1.0, 2: 1 / 3}, OF_MERGED: {0: 0.5, 1: 1.0, 2: 0.0}}
    answers = {
        question: {client: {"share": torch.tensor(share, dtype=torch.float64)} for client, share in given.items()}
        for question, given in shares.items()
    }
    scores = personal_scores(answers)
    assert scores[0, "accuracy/personal"] == 1
    assert (1, "accuracy/personal") not in scores
    assert scores[None, "accuracy/personal/mean"] == pytest.approx(2 / 3)
    assert scores[None, "accuracy/personal/spread"] == pytest.approx(1 / 3)
    assert scores[1, "accuracy/local"] == 1
    assert scores[None, "accuracy/local/mean"] == pytest.approx(0.5)
    assert scores[None, "accuracy/local/worst_tenth"] == 0


def test_nobody_has_no_scores():
    assert scores_of("accuracy/personal", {}) == {}
    assert personal_scores({}) == {}
    assert personal_scores({OF_OWN: {0: {}}}) == {}
