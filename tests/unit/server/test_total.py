from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.values import ClientFailure, ClientState
from equipoise.server.total import Total
from tests.conftest import update

LIKE = {"w": torch.zeros(2)}


def sent(client: int, *numbers: float):
    return replace(update(client, 1, LIKE), own=ClientState(report={"s": torch.tensor(numbers)}))


def doubled(report):
    return {name: 2 * tensor.double() for name, tensor in report.items()}


def test_reports_are_added_up_and_let_go():
    total = Total(doubled, LIKE)
    first, second = total.take(sent(0, 1.0, 2.0)), total.take(sent(1, 10.0, 20.0))
    assert total.state["s"].tolist() == [22.0, 44.0]
    assert total.state["s"].dtype == torch.float64
    assert (first.own.report, second.own.report) == ({}, {})
    assert second.metrics["bytes/report"] == 8


def test_a_client_that_failed_adds_nothing():
    total, failure = Total(doubled, LIKE), ClientFailure(3, "non-finite", "why")
    assert total.take(failure) is failure
    assert total.state == {}


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_sums_that_are_not_finite_are_left_to_be_refused(bad):
    total = Total(doubled, LIKE)
    total.take(sent(0, 1.0, 2.0))
    refused = total.take(sent(1, bad, 1.0))
    assert refused.own.report
    assert total.state["s"].tolist() == [2.0, 4.0]


def test_sums_of_other_shapes_are_refused_in_words():
    total = Total(doubled, LIKE)
    total.take(sent(0, 1.0, 2.0))
    refused = total.take(sent(1, 1.0))
    assert isinstance(refused, ClientFailure)
    assert refused.error == "s of its report is (1,), expected (2,)"
    assert total.state["s"].tolist() == [2.0, 4.0]
