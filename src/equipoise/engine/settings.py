"""The engines and their settings. The code of an engine is imported when it is started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from equipoise.config.blocks import EngineOptions
from equipoise.config.traits import HISTORIES
from equipoise.core.registry import ENGINES

if TYPE_CHECKING:
    from equipoise.config.schema import Config


class LocalOptions(EngineOptions):
    name: str = "local"


class WorkerOptions(EngineOptions):
    """What engines with workers have in common."""

    workers: int | None = Field(
        None, ge=1, description="worker processes; default: cores divided by threads, on accelerators one per device"
    )
    on_death: Literal["rerun", "drop"] = Field("rerun", description="what to do with the client of a lost worker")
    retries: int = Field(2, ge=0, description="how often a client is run again before the run fails")
    timeout: float | None = Field(None, gt=0, description="seconds after which a client counts as hung")


class ProcessesOptions(WorkerOptions):
    name: str = "processes"
    devices: list[str] | None = Field(
        None, min_length=1, description="devices of the workers, as in cuda:0,cuda:1; default: all of that kind"
    )

    @field_validator("devices", mode="before")
    @classmethod
    def _separated_by_commas(cls, value: object) -> object:
        return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


class FlowerOptions(EngineOptions):
    """Client machines that hold their own data. Files are named from the working folder."""

    name: str = "flower"
    address: str = Field("127.0.0.1:9093", description="host:port of the server, as `federation serve` prints it")
    certificate: str = Field("federation/ca.crt", description="the certificate by which the server is known")
    secret: str | None = Field(
        None, description="file that lets a driver claim its run; null: superexec.secret beside the certificate"
    )
    machines: int | None = Field(
        None, ge=1, description="wait for so many machines at the start; null: until every client has a home"
    )
    patience: float = Field(600, gt=0, description="seconds without a sign of life that end the run")
    poll: float = Field(0.2, gt=0, description="seconds between two questions for answers")
    retries: int = Field(2, ge=0, description="how often a machine that was lost at its work gets it again in a step")
    client_state: Literal["stays", "travels"] | None = Field(
        None,
        description="stays: machines keep their clients' state, and results name it; travels: it goes along; null: it "
        "stays, but recommenders' travels, since items are ranked with users' memories",
    )
    compress: Literal["none", "zstd", "fp16", "int8"] = Field(
        "none", description="of what is sent; fp16 and int8 round what clients send up, and say by how much"
    )

    def keeps_state(self, config: Config) -> bool:
        """Whether clients' state stays on their machines."""
        return self.client_state == "stays" or (self.client_state is None and HISTORIES not in config.kind.offers)


class RayOptions(WorkerOptions):
    name: str = "ray"
    address: str | None = Field(
        None,
        pattern=r"^(auto|(ray://)?[^\s:/]+:\d+)$",
        description="the cluster: auto (the one this machine is part of), HOST:PORT, ray://HOST:PORT; null: a cluster "
        "of this machine alone, which ends with the run",
    )
    gpus_per_worker: float | None = Field(
        None, ge=0, description="GPUs of each worker, or a part of one; default: one if engine.device is a GPU"
    )
    data_folder: str | None = Field(
        None, description="folder that all machines share: data is read there; null: it is sent to every machine once"
    )


ENGINES.declare("local", "equipoise.engine.local:Local", aliases=("sequential",), options=LocalOptions)
ENGINES.declare(
    "processes",
    "equipoise.engine.processes:Processes",
    aliases=("process", "multiprocess"),
    options=ProcessesOptions,
)
ENGINES.declare("flower", "equipoise.engine.flower.engine:Flower", options=FlowerOptions)
ENGINES.declare("ray", "equipoise.engine.ray_engine:Ray", options=RayOptions)
