from __future__ import annotations

from math import log

import pytest
import torch

from equipoise.evaluate.accuracy import accuracy, negative_log_likelihood, recall

PROBABILITIES = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
LABELS = torch.tensor([0, 1, 1, 1])


def test_accuracy_is_the_share_of_right_answers():
    assert accuracy(PROBABILITIES, LABELS) == 2 / 4
    assert accuracy(PROBABILITIES, torch.tensor([0, 1, 0, 2])) == 1
    assert accuracy(PROBABILITIES, torch.tensor([1, 0, 1, 0])) == 0


def test_a_third_is_a_third():
    assert accuracy(PROBABILITIES[:3], torch.tensor([0, 0, 1])) == 1 / 3


def test_recall_per_class_that_occurs():
    assert recall(PROBABILITIES, LABELS) == {0: 1.0, 1: 1 / 3}


def test_negative_log_likelihood_by_hand():
    expected = -(log(0.7) + log(0.8) + log(0.25) + log(0.2)) / 4
    assert negative_log_likelihood(PROBABILITIES, LABELS) == pytest.approx(expected)


def test_certainty_of_the_wrong_answer_is_large_but_finite():
    loss = negative_log_likelihood(torch.tensor([[1.0, 0.0]]), torch.tensor([1]))
    assert loss == pytest.approx(-log(torch.finfo(torch.float32).tiny))
