"""Every test here uses the simulated device."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.sim.fixtures import sim

__all__ = ["sim"]


@pytest.fixture(autouse=True)
def loaded(sim: ModuleType) -> None:
    """Skips where the device cannot be compiled."""
