from __future__ import annotations

import mmap
import os
import tempfile

from equipoise.core.pulse import PULSE, SIZE, Pulse, seen_in
from tests.conftest import records, tiny


def test_what_was_done_here_and_elsewhere_is_added() -> None:
    pulse = Pulse()
    assert pulse.read() == 0
    pulse.beat(0.5)
    pulse.others = lambda: 1.25
    assert pulse.read() == 1.75


def test_another_process_sees_it() -> None:
    with tempfile.TemporaryFile() as file:
        os.ftruncate(file.fileno(), SIZE)
        memory = mmap.mmap(file.fileno(), SIZE)
        pulse = Pulse()
        pulse.share(file.fileno())
        pulse.beat(0.75)
        assert seen_in(memory) == 0.75
        memory.close()


def test_a_bar_moves_within_a_client(monkeypatch) -> None:
    """Two epochs of several steps: the share of the client's work grows from step to step, and is none at the end."""
    beats: list[float] = []
    beat = Pulse.beat
    monkeypatch.setattr(Pulse, "beat", lambda self, clients: beats.append(clients) or beat(self, clients))
    records(tiny("rounds=1", "client.epochs=2", "partition.clients=1"))
    *going, end = beats
    assert len(going) > 4
    assert going == sorted(going)
    assert 0 == going[0] < going[-1] < 1
    assert end == 0
    assert PULSE.read() == 0
