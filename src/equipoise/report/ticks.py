"""Ticks of a logarithmic axis: either 1, 2, 5, 10, 20, … or powers of ten, with one number format per axis."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

FEW_DECADES = 100.0
"""Up to this ratio of the largest to the smallest value, powers of ten give too few ticks."""
MOST_TICKS = 8
ROUNDING = 1e-6
"""Tolerance for a value on a tick: 0.01 in single precision is slightly less than 0.01."""
PLAIN = (1e-3, 1e5)
"""Between these, numbers are written out in full."""
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def log_ticks(low: float, high: float) -> list[float]:
    """From the last tick at or below the smallest value to the first at or above the largest.

    >>> log_ticks(1.1, 18)
    [1.0, 2.0, 5.0, 10.0, 20.0]
    >>> log_ticks(0.003, 700)
    [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    """
    heads = (1, 2, 5) if high <= FEW_DECADES * low else (1,)
    below, above = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1

    def tick(i: int) -> float:
        return float(f"{heads[i % len(heads)]}e{i // len(heads)}")

    places = range(below * len(heads), (above + 1) * len(heads))
    first = max(i for i in places if tick(i) <= low * (1 + ROUNDING))
    last = min(i for i in places if tick(i) >= high * (1 - ROUNDING))
    if last - first < 2:
        first, last = first - 1, last + 1
    every = -(-(last - first) // MOST_TICKS)
    return [tick(i) for i in range(first, last + every, every)]


def label_expression(ticks: Sequence[float]) -> str:
    """The labels of the ticks, as a Vega expression."""
    return f"{json.dumps(labels(ticks), ensure_ascii=False)}[indexof({json.dumps(list(ticks))}, datum.value)]"


def labels(ticks: Sequence[float]) -> list[str]:
    """The labels: all written out, or all as powers of ten.

    >>> labels([0.5, 1.0, 2.0]), labels([1e-7, 1e-5, 1e-3])
    (['0.5', '1', '2'], ['10⁻⁷', '10⁻⁵', '10⁻³'])
    """
    is_plain = PLAIN[0] <= min(ticks) and max(ticks) <= PLAIN[1]
    return [f"{tick:g}" if is_plain else _power(tick) for tick in ticks]


def _power(tick: float) -> str:
    head, _, exponent = f"{tick:.0e}".partition("e")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPT)}"
    return power if head == "1" else f"{head}·{power}"
