from __future__ import annotations

import pytest

from equipoise.core.clock import Clock


@pytest.mark.parametrize(
    ("steps", "epochs", "spans"),
    [
        (1, 3, [[0, 1, 2]]),
        (2, 5, [[0, 1], [2, 3, 4]]),
        (3, 3, [[0], [1], [2]]),
        (3, 6, [[0, 1], [2, 3], [4, 5]]),
        (4, 6, [[0], [1, 2], [3], [4, 5]]),
    ],
)
def test_spans(steps, epochs, spans):
    clock = Clock(steps, epochs)
    assert [list(clock.span(step)) for step in range(steps)] == spans


def test_progress_is_of_the_whole_run():
    clock = Clock(steps=5, epochs=10)
    assert clock.progress(0, 0.0) == 0
    assert clock.progress(4, 0.5) == (4 + 0.5) / 10
    assert clock.progress(9, 3 / 4) == (9 + 3 / 4) / 10
