"""The fixture `sim`: the simulated device, seen by the tests that ask for it.

It is loaded while pytest collects, before any backward(), and hidden: elsewhere `engine.device=auto` means the CPU.
With EQUIPOISE_TEST_DEVICE=sim every test sees it, and `auto` means the simulated device, also in the processes that
tests start.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.sim import NoCompiler, environment, load

N_DEVICES = 2
IS_EVERYWHERE = os.environ.get("EQUIPOISE_TEST_DEVICE") == "sim"


def load_unless_impossible() -> ModuleType | NoCompiler:
    """`torch.sim`, or why it cannot be; with EQUIPOISE_SIM_REQUIRED=1 that is an error."""
    try:
        loaded = load()
    except NoCompiler as error:
        if IS_EVERYWHERE or os.environ.get("EQUIPOISE_SIM_REQUIRED") == "1":
            raise
        return error
    if IS_EVERYWHERE:
        os.environ |= environment(devices=N_DEVICES)
    else:
        _show(0)
    return loaded


def _show(n_devices: int) -> None:
    import torch

    torch.ops.sim_device.set_device_count(n_devices)


LOADED = load_unless_impossible()


@pytest.fixture
def sim() -> Iterator[ModuleType]:
    """`torch.sim` with all its devices, whatever a test before lost; skips where there is no compiler."""
    if isinstance(LOADED, NoCompiler):
        pytest.skip(str(LOADED))
    _show(N_DEVICES)
    yield LOADED
    _show(N_DEVICES)
    for device in range(N_DEVICES):
        LOADED.restore(device)
    if not IS_EVERYWHERE:
        _show(0)
