"""Schedules over the progress p of the whole run.

none 1        linear 1 − p        cosine ½(1 + cos πp)
"""

from __future__ import annotations

from math import cos, pi

from equipoise.config.choices import Schedule


def schedule(kind: Schedule, p: float) -> float:
    """s(p).

    >>> [round(schedule("cosine", r / 10), 4) for r in (0, 1, 5, 9)]
    [1.0, 0.9755, 0.5, 0.0245]
    """
    if kind == "linear":
        return 1 - p
    return 0.5 * (1 + cos(pi * p)) if kind == "cosine" else 1.0
