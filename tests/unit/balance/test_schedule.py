from __future__ import annotations

import pytest

from equipoise.balance.schedule import schedule

TENTHS = [r / 10 for r in range(10)]


def test_cosine_over_ten_checkpoints():
    found = [round(schedule("cosine", p), 4) for p in TENTHS]
    assert found == [1, 0.9755, 0.9045, 0.7939, 0.6545, 0.5, 0.3455, 0.2061, 0.0955, 0.0245]


def test_linear_over_ten_checkpoints():
    assert [schedule("linear", p) for p in TENTHS] == pytest.approx([1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])


def test_none_is_one():
    assert [schedule("none", p) for p in TENTHS] == [1.0] * 10
