from __future__ import annotations

import pytest

from equipoise.run.build import build
from equipoise.run.loop import federate, first_snapshot
from tests.conftest import nobody, one_shot, records, tiny

from .conftest import Meddling, not_finite, rows_of

BYTES = 4 * (192 * 16 + 16 + 16 * 10 + 10)  # the tiny perceptron in float32


def traffic_of(config) -> list[tuple[float, float]]:
    return [(rows_of(r, "bytes/down")[None], rows_of(r, "bytes/up")[None]) for r in records(config)]


def test_bytes_with_rounds_go_down_and_up_each_time():
    assert traffic_of(tiny("rounds=2")) == [(3 * BYTES, 3 * BYTES)] * 2
    assert traffic_of(tiny("rounds=2", "server.fraction=0.34")) == [(BYTES, BYTES)] * 2


def test_bytes_with_one_shot_go_down_first_and_up_last():
    assert traffic_of(one_shot(epochs=3, checkpoints=3)) == [(3 * BYTES, 0), (0, 0), (0, 3 * BYTES)]


@pytest.mark.parametrize("method", ["local-only", "centralised"])
def test_no_bytes_where_nothing_is_shared(method):
    assert traffic_of(tiny(f"method={method}")) == [(0, 0)] * 2


def test_bytes_of_a_client_that_failed_came_down_only():
    federation = build(tiny("rounds=1"))
    engine = Meddling(federation.site, {(0, 1): not_finite})
    (step,) = federate(federation, engine, first_snapshot(federation), 0, nobody)
    assert (rows_of(step, "bytes/down")[None], rows_of(step, "bytes/up")[None]) == (3 * BYTES, 2 * BYTES)
