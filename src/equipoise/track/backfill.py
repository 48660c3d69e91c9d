"""Sends a stored run to a tracker: all of it, or what the tracker lacks since the run was sent there last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from equipoise.config.track import TrackOptions
from equipoise.core.errors import ConfigError, EquipoiseError, Problem, TrackerError
from equipoise.store.records import Run
from equipoise.store.transact import Store
from equipoise.track.feed import Route, acknowledged, named, opened, pending, reason
from equipoise.track.sink import described
from equipoise.track.sinks import make_sink


class SentRun(NamedTuple):
    """A run that a tracker has now: its id there, where that is, and how many points were sent this time."""

    run_id: str
    remote: str
    place: str
    points: int


def send_run(store: Store, run: Run, tracker: str, settings: Mapping[str, Any]) -> SentRun:
    """Send the run to `tracker`, by the run's own settings with `settings` over them, as in {"uri": "http://…"}."""
    if run.status == "running":
        what = f"run '{run.run_id}' goes on"
        raise ConfigError(what, fix=f"wait for its end; to follow a run, start it with track=[{tracker}]")
    options = combined(run.config.get("track", {}), tracker, settings)
    route = Route(store, described(store, run), options.own, make_sink(tracker, options))
    try:
        at, n_points = opened(route), 0
        for points, step in pending(route, at.sent):
            route.sink.send(points)
            at, n_points = acknowledged(route, at, step), n_points + len(points)
        route.sink.close(run.status)
    except EquipoiseError:
        raise
    except Exception as error:  # a tracker's library raises what it likes
        fix = "see whether the tracker is there, then give the command again: it sends what is lacking"
        raise TrackerError(f"{named(route)} failed: {reason(error)}", where=run.run_id, fix=fix) from error
    return SentRun(run.run_id, at.remote, route.sink.place, n_points)


def combined(block: Mapping[str, Any], tracker: str, settings: Mapping[str, Any]) -> TrackOptions:
    """The run's settings of trackers, with those of one of them changed; `per_client` belongs to all."""
    mine = {key: value for key, value in settings.items() if key != "per_client"}
    everyone = {key: value for key, value in settings.items() if key == "per_client"}
    try:
        return TrackOptions.model_validate({**block, **everyone, tracker: {**block.get(tracker, {}), **mine}})
    except ValidationError as error:
        known = ", ".join([*type(getattr(TrackOptions(), tracker)).model_fields, "per_client"])
        problems = [Problem(str(item["loc"][-1]), f"{item['msg']}, got {item['input']!r}") for item in error.errors()]
        raise ConfigError(problems, where="--set", fix=f"settings of {tracker}: {known}") from None
