"""Takes the steps of a run to its end, and records how it ended.

Each step is committed as a whole: state first as content-addressed files, then numbers, events and the manifest of
those files in one transaction.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import NamedTuple

from equipoise.core.errors import EquipoiseError, Halted, PluginFailed, StoppedOnRequest, StoreError
from equipoise.core.notices import NOTICES
from equipoise.core.plugins import running
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import Event
from equipoise.diagnose.examine import examine
from equipoise.diagnose.stored import stored
from equipoise.run.announce import folder_of
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.checkpoint import Keeper
from equipoise.run.guard import Guard, Reaction
from equipoise.run.live import LiveProgress
from equipoise.run.loop import federate
from equipoise.run.opening import opening
from equipoise.run.state import Snapshot
from equipoise.run.watch import Watch
from equipoise.store import blobs, read, write
from equipoise.store.database import Store

COLLECT_EVERY = 10
"""Steps between two collections of files that no checkpoint refers to."""


ANNOUNCED = ("checkpoint-damaged", "partition-overlap", "data-note", "feature-check")
"""Kinds of events that are shown when a run starts or resumes."""


def carry_on(store: Store, run_id: str, federation: Federation, snapshot: Snapshot, first: int, shown: Watch) -> None:
    """Take the remaining steps, and record how the run ended."""
    watch = LiveProgress(store, run_id, snapshot.stopped, shown)
    try:
        watch.begin(run_id, federation, first)
        for recorded in read.events(store, run_id):
            if recorded.event.kind in ANNOUNCED:
                watch.note(f"{'! ' if is_alarming(recorded.event) else ''}{recorded.event.message}")
        WATCH.lap("start")
        guard = Guard(federation.config, stored(store, read.find_run(store, run_id)))
        left: Left | None = _reacted(store, run_id, guard.look(first - 1), watch, Left(federation, snapshot, first))
        while left is not None:
            left = _take_steps(store, run_id, left, guard, watch)
        write.prune(store, run_id, keep=1)
        blobs.gc(store, lambda: read.referenced(store))
        write.finish(store, run_id, "done")
    except KeyboardInterrupt:
        write.add_events(store, run_id, [Event("stopped", "by Ctrl-C or SIGTERM")])
        write.finish(store, run_id, "stopped")
        raise
    except StoppedOnRequest as asked:
        write.add_events(store, run_id, [Event("stopped", asked.what)])
        write.finish(store, run_id, "stopped")
        look_back(store, run_id)
        raise
    except Halted as error:
        write.finish(store, run_id, "stopped", str(error))
        look_back(store, run_id)
        raise
    except BaseException as raised:
        cause = _named(raised)
        text = str(cause) if isinstance(cause, EquipoiseError) else repr(cause)
        with suppress(StoreError):  # the first error is the one to report
            write.add_events(store, run_id, [Event("failed", text)])
            write.finish(store, run_id, "failed", text)
        if cause is raised:
            raise
        raise cause from raised
    finally:
        watch.end()
    look_back(store, run_id)


def _named(error: BaseException) -> BaseException:
    """The error; one that a plugin's code raised unexpectedly, with the plugin, its file and line."""
    place = "" if isinstance(error, EquipoiseError) or not isinstance(error, Exception) else running(error)
    if not place:
        return error
    what, fix = f"{type(error).__name__}: {error}", "correct the plugin, then resume the run, or start it anew"
    return PluginFailed(what, where=place, fix=fix)


def is_alarming(event: Event) -> bool:
    """False for passed feature checks and for notes of the data's reader."""
    if event.kind == "feature-check":
        return bool(event.detail["control"] != "as-given")
    return event.kind != "data-note"


class Left(NamedTuple):
    """The rest of a run."""

    federation: Federation
    snapshot: Snapshot
    first: int


def _take_steps(store: Store, run_id: str, left: Left, guard: Guard, watch: LiveProgress) -> Left | None:
    """Take steps, committing each, until the run is over or continues under another configuration."""
    with NOTICES.shown_by(watch.note):
        engine = make_engine(left.federation.site)
    keeper = Keeper(partial(blobs.put, store))
    try:
        for event in opening(left.federation, engine, left.snapshot) if left.first == 0 else ():
            write.add_events(store, run_id, [event])
            watch.note(event.message)
        for record in federate(left.federation, engine, left.snapshot, left.first, watch.tick):
            with blobs.referring(store):
                manifest = keeper.manifest(record.snapshot, record.pictures, record.uploads)
                write.commit_step(store, run_id, record.step, record.rows, record.events, manifest)
            write.prune(store, run_id)
            WATCH.lap("store")
            watch.checkpoint(record)
            if (record.step + 1) % COLLECT_EVERY == 0:
                blobs.gc(store, lambda: read.referenced(store))
            WATCH.lap("store")
            here = Left(left.federation, record.snapshot, record.step + 1)
            after = _reacted(store, run_id, guard.see(record), watch, here)
            WATCH.lap("guard")
            if after is not here:
                return after
            watch.follow_requests(record.step)
    finally:
        engine.close()
    return None


def _reacted(store: Store, run_id: str, reaction: Reaction, watch: Watch, left: Left) -> Left:
    """Record and show what the guard found; end the run, or return how to continue, as the guard decides."""
    if reaction.events:
        write.add_events(store, run_id, reaction.events)
    for event in reaction.events:
        watch.note(f"! {event.message}")
    if reaction.halt is not None:
        raise reaction.halt
    if reaction.config is None:
        return left
    folder = folder_of(read.find_run(store, run_id), None)
    return left._replace(federation=build(reaction.config, folder))


def look_back(store: Store, run_id: str) -> None:
    """Diagnose a finished run, and store the findings."""
    run = read.find_run(store, run_id)
    verdict = examine(stored(store, run), run.config.get("limits", {}))
    write.set_findings(store, run_id, [finding.to_json() for finding in verdict.findings])
