"""Which devices the workers of a machine have."""

from __future__ import annotations

from equipoise.core.device import devices, resolved
from equipoise.engine.settings import ProcessesOptions


def worker_devices(options: ProcessesOptions) -> list[str]:
    """The devices of the workers: those that were listed; or all of the kind of engine.device, if it has no number."""
    if options.devices is not None:
        return list(options.devices)
    name = resolved(options.device)
    return [each for each in devices() if each.startswith(f"{name}:")] or [name]
