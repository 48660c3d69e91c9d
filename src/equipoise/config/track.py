"""Settings of trackers: programs of others that show a run's curves beside the store.

`track=[mlflow]` is short for `track.to=[mlflow]`. Trackers get copies, so no setting of this block changes a number or
enters the hash of a configuration.
"""

from __future__ import annotations

from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator

from equipoise.core.options import Options
from equipoise.core.registry import suggestion

TrackerName = Literal["mlflow", "wandb", "tensorboard"]
TRACKERS: tuple[TrackerName, ...] = get_args(TrackerName)


class MlflowOptions(Options):
    """An MLflow tracking server."""

    uri: str | None = Field(None, description="address of the tracking server; null: `MLFLOW_TRACKING_URI`")
    experiment: str = Field("equipoise", min_length=1, description="experiment that runs belong to; made if missing")

    @field_validator("uri")
    @classmethod
    def _without_password(cls, value: str | None) -> str | None:
        if value is not None and "@" in urlsplit(value).netloc:
            raise ValueError("configurations are stored, so no user or password here: set MLFLOW_TRACKING_USERNAME …")
        return value


class WandbOptions(Options):
    """Weights & Biases."""

    project: str = Field("equipoise", min_length=1, description="project that runs belong to")
    entity: str | None = Field(None, description="user or team that owns the project; null: W&B's default")
    mode: Literal["online", "offline"] = Field(
        "online", description="offline: files only, which `wandb sync` sends later"
    )
    folder: str = Field(".", min_length=1, description="folder in which W&B makes its folder `wandb`")


class EventFileOptions(Options):
    """Event files of TensorBoard."""

    folder: str = Field("events", min_length=1, description="folder of the event files; each run has one of its own")


class TrackOptions(Options):
    """Trackers that a run's curves are sent to while it goes on; the store stays the record."""

    to: list[str] = Field([], description="trackers: mlflow, wandb, tensorboard")
    per_client: bool | int = Field(
        20, ge=0, description="clients with curves of their own: all, none, or the first N; of more, also the mean"
    )
    wait: float = Field(10.0, ge=0, description="seconds that the end of a run waits for trackers that are behind")
    mlflow: MlflowOptions = Field(MlflowOptions(), description="the MLflow server")
    wandb: WandbOptions = Field(WandbOptions(), description="the W&B project")
    tensorboard: EventFileOptions = Field(EventFileOptions(), description="the event files")

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """As for all settings, but `per_client` may be yes or no."""
        if isinstance(value, bool) and info.field_name != "per_client":
            raise ValueError("expected a number or a name, not yes or no")
        return value

    @field_validator("to", mode="before")
    @classmethod
    def _known(cls, value: Any) -> list[Any]:
        names = value.split(",") if isinstance(value, str) else list(value or [])
        for name in names:
            if name not in TRACKERS:
                raise ValueError(f"tracker '{name}' is not known{suggestion(str(name), list(TRACKERS))}")
        return list(dict.fromkeys(names))

    @property
    def own(self) -> int | None:
        """How many clients have curves of their own: None means all."""
        if isinstance(self.per_client, bool):
            return None if self.per_client else 0
        return self.per_client
