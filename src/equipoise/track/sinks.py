"""The trackers by name, and what must be there before a run begins."""

from __future__ import annotations

from importlib.util import find_spec

from equipoise.config.track import TrackOptions
from equipoise.core.errors import MissingExtra
from equipoise.track.sink import Sink
from equipoise.track.to_mlflow import MlflowSink
from equipoise.track.to_tensorboard import EventFileSink
from equipoise.track.to_wandb import WandbSink


def sinks(options: TrackOptions) -> list[Sink]:
    """A sink for each tracker of the settings; a missing package or address is an error."""
    return [make_sink(name, options) for name in options.to]


def make_sink(name: str, options: TrackOptions) -> Sink:
    if find_spec(name) is None:
        raise MissingExtra(f"tracking with {name} needs: pip install 'equipoise[track]'", where="track.to")
    if name == "mlflow":
        return MlflowSink(options.mlflow)
    return WandbSink(options.wandb) if name == "wandb" else EventFileSink(options.tensorboard)
