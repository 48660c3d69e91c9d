"""The engines and their settings. The code of an engine is imported when it is started."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from equipoise.config.blocks import EngineOptions
from equipoise.core.registry import ENGINES


class LocalOptions(EngineOptions):
    name: str = "local"


class ProcessesOptions(EngineOptions):
    name: str = "processes"
    workers: int | None = Field(
        None, ge=1, description="worker processes; default: cores divided by threads, on accelerators one per device"
    )
    devices: list[str] | None = Field(
        None, min_length=1, description="devices of the workers, as in cuda:0,cuda:1; default: all of that kind"
    )
    on_death: Literal["rerun", "drop"] = Field("rerun", description="what to do with the client of a lost worker")
    retries: int = Field(2, ge=0, description="how often a client is run again before the run fails")
    timeout: float | None = Field(None, gt=0, description="seconds after which a client counts as hung")

    @field_validator("devices", mode="before")
    @classmethod
    def _separated_by_commas(cls, value: object) -> object:
        return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


ENGINES.declare("local", "equipoise.engine.local:Local", aliases=("sequential",), options=LocalOptions)
ENGINES.declare(
    "processes",
    "equipoise.engine.processes:Processes",
    aliases=("process", "multiprocess"),
    options=ProcessesOptions,
)
