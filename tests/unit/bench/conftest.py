from __future__ import annotations

import pytest

from equipoise.bench import measure


@pytest.fixture(autouse=True)
def without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is timed here does not matter."""
    monkeypatch.setattr(measure, "SETTLE", 0.0)
