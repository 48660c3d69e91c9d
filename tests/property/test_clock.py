"""Every epoch of a run lies in exactly one span, in order, and progress rises from 0 towards 1."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.clock import Clock

clocks = st.integers(1, 400).flatmap(lambda epochs: st.builds(Clock, st.integers(1, epochs), st.just(epochs)))


@given(clocks)
def test_spans_cover_every_epoch_once_and_in_order(clock: Clock) -> None:
    spans = [clock.span(step) for step in range(clock.steps)]
    assert [epoch for span in spans for epoch in span] == list(range(clock.epochs))
    assert all(len(span) > 0 for span in spans)
    assert max(map(len, spans)) - min(map(len, spans)) <= 1


@given(clocks, st.integers(1, 7))
def test_progress_rises_through_the_whole_run(clock: Clock, batches: int) -> None:
    every = [clock.progress(epoch, batch / batches) for epoch in range(clock.epochs) for batch in range(batches)]
    assert every[0] == 0
    assert all(a < b for a, b in pairwise(every))
    assert every[-1] < 1
