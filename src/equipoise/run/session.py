"""Starts or resumes a run.

A run that is killed at any moment resumes from its last complete step and gives the same numbers.
"""

from __future__ import annotations

from pathlib import Path

from equipoise import __version__
from equipoise.config.check import check
from equipoise.config.loader import Request
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
from equipoise.run.state import Snapshot
from equipoise.run.watch import Watch
from equipoise.store import blobs, read, write
from equipoise.store.database import Store
from equipoise.store.records import Run, new_run_id


def start(store: Store, request: Request, watch: Watch, member: Membership = ALONE) -> str:
    """Run a configuration from the beginning; returns the new run's id."""
    return begin(store, request, prepared(request), watch, member)


def prepared(request: Request) -> Federation:
    """The federation of a request; a wrong one is refused here, before anything is written."""
    limits(request.config.limits)
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
    store: Store, run: Run, watch: Watch, data_path: Path | None = None, rounds: int | str | None = None
) -> None:
    """Resume a run that was stopped, killed or failed, from its newest complete checkpoint.

    `rounds`, a total or "+20", makes the run longer; a finished run can then be resumed, too.
    """
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
        federation = build(healed(config, so_far), folder)
        here = require_same_data(run, federation, folder)
        server = run.environment.get("predict", here["predict"])  # a healed run may have got another one later
        if rounds is None:
            write.restart(store, run.run_id, {**here, "predict": server})
        else:
            longer = lengthened(run, config, {**here, "predict": server})
            write.extend(store, longer, extension(store, run, config))
        snapshot, first = _newest(store, run.run_id, federation)
        text = f"was {was}; goes on after {first} of {federation.config.steps} checkpoints"
        write.add_events(store, run.run_id, [Event("resumed", text), *changes_of(run.environment, here)])
        carry_on(store, run.run_id, federation, snapshot, first, watch)


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
