"""Where a run computes: its device and precision, checked before anything starts, and resolved once.

`engine.device=auto` becomes the accelerator that torch reports, or the CPU. The resolved name is what a run stores, so
that a resumed run computes where it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from equipoise.config.blocks import EngineOptions
from equipoise.config.check import check
from equipoise.config.schema import Config
from equipoise.core.arithmetic import has_precision, require_precision
from equipoise.core.device import device_of, devices
from equipoise.core.errors import ConfigError, EngineError, Problem
from equipoise.core.registry import ENGINES
from equipoise.core.values import Event
from equipoise.engine.settings import ProcessesOptions, RayOptions

HALVED = "axis-halved"
"""The event of a device that had no memory for so many clients on one axis."""


@dataclass(frozen=True)
class Elsewhere:
    """Where a run is resumed, if not where it began: another device, another engine (its name and settings)."""

    device: str | None = None
    engine: Mapping[str, Any] = field(default_factory=dict)


WHERE_IT_BEGAN = Elsewhere()


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


def on_engine(config: Config, engine: Mapping[str, Any]) -> Config:
    """The configuration on another engine, or with other settings of its own: results are the same to the last bit.

    What all engines have, such as the precision, stays.
    """
    if not engine:
        return config
    before = config.engine.model_dump()
    if ENGINES.find(str(engine.get("name", before["name"])), "engine").name != before["name"]:
        before = {key: before[key] for key in EngineOptions.model_fields}
    return check({**config.model_dump(), "engine": {**before, **engine}})


def require_engine(config: Config) -> None:
    """Refuse an engine that cannot be reached, before anything is written."""
    if isinstance(config.engine, RayOptions):
        from equipoise.engine.ray_cluster import require

        require(config.engine)


def require_engine_again(config: Config) -> None:
    """The same for a run that is resumed, which may go on elsewhere."""
    try:
        require_engine(config)
    except (ConfigError, EngineError) as error:
        fix = f"{error.fix}; or resume it on another engine: `--engine local`"
        raise type(error)(error.what, where=error.where, fix=fix) from error


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
