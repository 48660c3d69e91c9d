from __future__ import annotations

from math import exp

import pytest

from equipoise.core.values import Question
from equipoise.server.common_correction import LEAST, WEIGHT, common_correction
from equipoise.server.predict import Merged, question_of

from .test_common_gate import COMMON_SEES, LABELS, Q
from .views import Training, answered, client, flat


def test_the_weight_is_a_tenth():
    assert (WEIGHT, LEAST) == (0.1, 1e-6)


def test_by_hand():
    # client 0 has both images of class 0 and one of class 1, client 1 the other of class 1
    first = client(0, [2, 1], asked_logits=[[0.0, 1.0], [0.0, 1.0]])
    second = client(1, [0, 1], asked_logits=[[99.0, 0.0], [99.0, 0.0]])  # owns class 1 alone: 0, 1
    found = answered(
        common_correction, Merged({}, [first, second]), Training(LABELS, {0: [0, 1, 2], 1: [3]}, COMMON_SEES)
    )
    one, expected = exp(1) / (1 + exp(1)), []
    for q in Q:
        g = (1 - q) + q / 2, q / 2
        e = g[0] * (1 - one), g[0] * one + g[1]
        joint = (1 - q) * e[0] ** 0.1, q * e[1] ** 0.1
        expected += [joint[0] / sum(joint), joint[1] / sum(joint)]
    assert flat(found) == pytest.approx(expected, rel=1e-5)


def test_clients_that_cannot_tell_change_nothing():
    only = client(0, [2, 2], asked_logits=[[0.0, 0.0]] * 2)
    found = answered(common_correction, Merged({}, [only]), Training(LABELS, {0: [0, 1, 2, 3]}, COMMON_SEES))
    assert flat(found) == pytest.approx([1 - Q[0], Q[0], 1 - Q[1], Q[1]], rel=1e-5)


def test_however_sure_clients_are_they_move_the_odds_by_a_factor_of_four_at_most():
    only = client(0, [2, 2], asked_logits=[[1e4, 0.0]] * 2)
    found = answered(common_correction, Merged({}, [only]), Training(LABELS, {0: [0, 1, 2, 3]}, COMMON_SEES))
    odds = [(1 - q) / q * (1 / LEAST) ** WEIGHT for q in Q]
    assert flat(found[:, 0] / found[:, 1]) == pytest.approx(odds, rel=1e-4)
    assert round((1 / LEAST) ** WEIGHT, 2) == 3.98


def test_a_class_that_nobody_has_is_never_answered():
    only = client(0, [2, 0, 2], asked_logits=[[0.0, 50.0, 0.0]] * 2)
    found = answered(common_correction, Merged({}, [only]), Training([0, 0, 2, 2], {0: [0, 1, 2, 3]}, COMMON_SEES))
    assert found[:, 1].tolist() == [0, 0]
    assert found.sum(1).tolist() == pytest.approx([1, 1])


def test_it_asks_for_sums_that_need_no_trained_model():
    assert question_of(common_correction) == Question("common-sums", "common")
