"""Starts or resumes a run.

A run that is killed at any moment resumes from its last complete step and gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from equipoise import __version__
from equipoise.config.check import check
from equipoise.config.loader import Request
from equipoise.config.schema import Config
from equipoise.core.device import device_of
from equipoise.core.errors import ConfigError, DamagedBlob, EngineError, StoreError
from equipoise.core.values import Event
from equipoise.diagnose.limits import limits
from equipoise.run.announce import ALONE, Membership, announce, changes_of, folder_of, require_same_data
from equipoise.run.build import Federation, build
from equipoise.run.carry_on import carry_on
from equipoise.run.checkpoint import unpack
from equipoise.run.extend import extended, extension, lengthened
from equipoise.run.guard import healed
from equipoise.run.loop import first_snapshot
from equipoise.run.placed import (
    WHERE_IT_BEGAN,
    Elsewhere,
    moved,
    on_engine,
    repeated,
    require_engine,
    require_engine_again,
)
from equipoise.run.state import Snapshot
from equipoise.run.watch import Watch
from equipoise.store import blobs, read, write
from equipoise.store.database import Store
from equipoise.store.records import Run, new_run_id, refuse_imported
from equipoise.track.sinks import sinks


def start(store: Store, request: Request, watch: Watch, member: Membership = ALONE) -> str:
    """Run a configuration from the beginning; returns the new run's id."""
    return begin(store, request, prepared(request), watch, member)


def prepared(request: Request) -> Federation:
    """The federation of a request; a wrong one is refused here, before anything is written."""
    limits(request.config.limits)
    require_engine(request.config)
    sinks(request.config.track)
    return build(request.config, request.data_path)


def begin(store: Store, request: Request, federation: Federation, watch: Watch, member: Membership = ALONE) -> str:
    """Run a federation that was built already; returns the new run's id."""
    run_id = new_run_id(request.config.name)
    with write.hold(store, run_id):
        with blobs.referring(store):
            announce(store, run_id, request, federation, member)
        carry_on(store, run_id, federation, first_snapshot(federation), 0, watch)
    return run_id


def resume(
    store: Store,
    run: Run,
    watch: Watch,
    data_path: Path | None = None,
    rounds: int | str | None = None,
    elsewhere: Elsewhere = WHERE_IT_BEGAN,
) -> None:
    """Resume a run that was stopped, killed or failed, from its newest complete checkpoint.

    `rounds`, a total or "+20", makes the run longer; a finished run can then be resumed, too. `elsewhere` names
    another device or engine than the one that the run began on.
    """
    refuse_imported(run, "to resume")
    if run.status == "done" and rounds is None:
        fix = "start a new run, or give more rounds: `equipoise resume RUN --rounds +20`"
        raise ConfigError(f"run '{run.run_id}' is done: there is nothing left to resume", fix=fix)
    if run.version != __version__:
        what = f"run '{run.run_id}' was started by version {run.version}; this is {__version__}"
        raise ConfigError(f"{what}, whose numbers may differ", fix="install that version, or start a new run")
    folder, was = folder_of(run, data_path), run.status
    with write.hold(store, run.run_id):  # from here on it looks alive, since we hold it
        run = read.find_run(store, run.run_id)
        if run.status == "done" and rounds is None:  # another process finished it while we waited
            return
        so_far = [recorded.event for recorded in read.events(store, run.run_id)]
        config = check(run.config) if rounds is None else extended(run, so_far, rounds)
        config_here = on_engine(healed(config, so_far), elsewhere.engine)
        federation = build(_on_its_device(config_here, so_far, elsewhere.device), folder)
        require_engine_again(federation.config)
        sinks(config.track)
        here = require_same_data(run, federation, folder)
        server = run.environment.get("predict", here["predict"])  # a healed run may have got another one later
        if rounds is None:
            write.restart(store, run.run_id, {**here, "predict": server})
        else:
            longer = lengthened(run, config, {**here, "predict": server})
            write.extend(store, longer, extension(store, run, config))
        snapshot, first = _newest(store, run.run_id, federation)
        text = f"was {was}; goes on after {first} of {federation.config.steps} checkpoints"
        moves = [*_device_changed(config, federation), *_engine_changed(config, federation)]
        events = [Event("resumed", text), *changes_of(run.environment, here), *moves]
        write.add_events(store, run.run_id, events)
        carry_on(store, run.run_id, federation, snapshot, first, watch)


def _on_its_device(config: Config, events: Iterable[Event], device: str | None) -> Config:
    """The configuration on the device that the run began on, with the axis that fitted there; or on the one that was
    asked for."""
    if device is not None:
        return moved(config, device)
    try:
        device_of(config.engine.device)
    except ConfigError as error:
        what = f"the run began on {config.engine.device}, and that is not here: {error.what}"
        fix = "resume it there, or on another device: `--device cpu`; the last bits will differ"
        raise ConfigError(what, where="engine.device", fix=fix) from error
    return repeated(config, events)


def _device_changed(before: Config, federation: Federation) -> list[Event]:
    was, now = before.engine.device, federation.config.engine.device
    precision = federation.config.engine.precision
    text = f"from {was} to {now}, in {precision}: the last bits differ from those of a run on one device"
    return [] if was == now else [Event("device-changed", text, detail={"before": was, "device": now})]


def _engine_changed(before: Config, federation: Federation) -> list[Event]:
    was, now = before.engine.name, federation.config.engine.name
    text = f"from {was} to {now}, which gives the same numbers"
    return [] if was == now else [Event("engine-changed", text, detail={"before": was, "engine": now})]


def _newest(store: Store, run_id: str, federation: Federation) -> tuple[Snapshot, int]:
    """The newest complete checkpoint; damaged ones are reported and dropped. If none is complete, nothing changes."""
    events: list[Event] = []
    checkpoints = read.checkpoints(store, run_id)
    for checkpoint in checkpoints:
        try:
            snapshot = unpack({name: blobs.get(store, digest) for name, digest in checkpoint.manifest.items()})
        except (DamagedBlob, EngineError) as error:
            text = f"checkpoint {checkpoint.step + 1} cannot be used, going back to the one before it: {error.what}"
            events.append(Event("checkpoint-damaged", text, detail={"step": checkpoint.step}))
            continue
        write.rewind(store, run_id, checkpoint.step)
        write.add_events(store, run_id, events)
        return snapshot, checkpoint.step + 1
    if checkpoints:
        what = f"no checkpoint of run '{run_id}' can be used; the newest: {events[0].message}"
        raise StoreError(what, where=str(store.blobs), fix="bring the files back, or start the run anew")
    write.rewind(store, run_id, -1)
    return first_snapshot(federation), 0
