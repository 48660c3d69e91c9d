"""Where a run computes: its device and precision, checked before anything starts, and resolved once.

`engine.device=auto` becomes the accelerator that torch reports, or the CPU. The resolved name is what a run stores, so
that a resumed run computes where it began.
"""

from __future__ import annotations

from collections.abc import Iterable

from equipoise.config.schema import Config
from equipoise.core.arithmetic import has_precision, require_precision
from equipoise.core.device import device_of, devices
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.values import Event
from equipoise.engine.settings import ProcessesOptions

HALVED = "axis-halved"
"""The event of a device that had no memory for so many clients on one axis."""


def placed(config: Config) -> Config:
    """The configuration with its device resolved; a device or a precision that is not there is refused."""
    engine, name = config.engine, config.engine.device
    if isinstance(engine, ProcessesOptions) and engine.devices is not None:
        _require_devices(engine.devices)
        name = engine.devices[0] if name == "auto" else name
    device = device_of(name)
    for each in [device, *map(device_of, getattr(engine, "devices", None) or ())]:
        require_precision(engine.precision, each)
        if each.kind != device.kind:
            what = f"'{each.name}' is of another kind than engine.device={device.name}"
            raise ConfigError([Problem("engine.devices", what)])
    return config.model_copy(update={"engine": engine.model_copy(update={"device": device.name})})


def _require_devices(names: Iterable[str]) -> None:
    known, problems, seen = devices(), [], set()
    for name in names:
        if name not in known and f"{name}:0" not in known:
            problems.append(Problem("engine.devices", f"there is no device '{name}' here; known: {', '.join(known)}"))
        if device_name(name) in seen:
            what = f"'{name}' stands there twice; engine.workers puts several workers on one device"
            problems.append(Problem("engine.devices", what))
        seen.add(device_name(name))
    if problems:
        raise ConfigError(problems)


def device_name(name: str) -> str:
    """With its number: "cuda" is "cuda:0"."""
    return name if name == "cpu" or ":" in name else f"{name}:0"


def moved(config: Config, device: str) -> Config:
    """The configuration on another device, in single precision if that lacks the other one."""
    changes: dict[str, object] = {"device": device}
    if isinstance(config.engine, ProcessesOptions):
        changes["devices"] = None
    if not has_precision(config.engine.precision, device_of(device)):
        changes["precision"] = "fp32"
    return config.model_copy(update={"engine": config.engine.model_copy(update=changes)})


def here(config: Config) -> Config:
    """The configuration on a device of this machine: its own if it is here, else what `auto` means."""
    try:
        return moved(config, device_of(config.engine.device).name)
    except ConfigError:
        return moved(config, device_of("auto").name)


def repeated(config: Config, events: Iterable[Event]) -> Config:
    """The configuration with the axis that a device had memory for, if it had to be halved before."""
    axes = [int(event.detail["together"]) for event in events if event.kind == HALVED]
    if not axes:
        return config
    return config.model_copy(update={"engine": config.engine.model_copy(update={"together": min(axes)})})


def described_device(config: Config) -> str:
    """cuda:0 (NVIDIA A100, 39.4 GiB), bf16"""
    device = device_of(config.engine.device)
    about = ", ".join(filter(None, [device.description, f"{device.memory / 2**30:.1f} GiB"]))
    return f"{device.name} ({about}), {config.engine.precision}"
