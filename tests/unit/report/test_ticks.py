from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from equipoise.report import card, times
from equipoise.report import ticks as module
from equipoise.report.figures import curves, terms
from equipoise.report.ticks import MOST_TICKS, ROUNDING, labels, log_ticks

AMOUNTS = st.floats(1e-30, 1e30)
SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"


@given(AMOUNTS, AMOUNTS)
def test_ticks_enclose_all_values_and_are_of_one_kind(a: float, b: float) -> None:
    low, high = sorted((a, b))
    ticks = log_ticks(low, high)
    assert ticks[0] <= low * (1 + ROUNDING)
    assert ticks[-1] >= high * (1 - ROUNDING)
    assert 3 <= len(ticks) <= MOST_TICKS + 1
    heads = {f"{tick:.0e}"[0] for tick in ticks}
    assert heads in ({"1"}, {"1", "2", "5"})
    assert len({any(letter in SUPERSCRIPTS for letter in text) for text in labels(ticks)}) == 1, "all powers, or none"


def test_a_value_that_single_precision_keeps_a_little_below_its_tick() -> None:
    assert log_ticks(0.009999999776482582, 0.009999999776482582) == [0.005, 0.01, 0.02]


def test_examples_in_the_docstrings() -> None:
    for each in (module, times, card, curves, terms):
        assert doctest.testmod(each).attempted
        assert not doctest.testmod(each).failed
