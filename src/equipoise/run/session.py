"""A run from its first line in the store to its last: start, resume, stop, fail.

Each step is committed as a whole: state first as content-addressed files, then numbers, events and the manifest of
those files in one transaction. A run killed at any instant goes on from its last whole step, to the same numbers.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from equipoise import __version__
from equipoise.config.loader import Request
from equipoise.config.schema import check
from equipoise.core.codec import encode
from equipoise.core.errors import ConfigError, DamagedBlob, EngineError, EquipoiseError, Halted, StoreError
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import Event, Indices
from equipoise.data.source import data_folder
from equipoise.diagnose.examine import examine
from equipoise.diagnose.limits import limits
from equipoise.diagnose.stored import stored
from equipoise.partition.divide import events as partition_events
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.checkpoint import Keeper, unpack
from equipoise.run.extend import extended, extension, lengthened
from equipoise.run.guard import Guard, Reaction, healed
from equipoise.run.loop import federate, first_snapshot
from equipoise.run.opening import opening
from equipoise.run.state import Snapshot
from equipoise.run.watch import Watch
from equipoise.store import blobs, read, write
from equipoise.store.database import Store
from equipoise.store.records import Client, NewRun, PartitionRecord, Run, new_run_id

COLLECT_EVERY = 10
"""Steps between two collections of files that no checkpoint refers to any more."""


ANNOUNCED = ("checkpoint-damaged", "partition-overlap", "data-note", "feature-check")
"""Events that are said when a run begins or goes on."""


@dataclass(frozen=True)
class Membership:
    """The sweep a run belongs to, and the label of its cell there."""

    sweep: str | None = None
    cell: str | None = None


ALONE = Membership()


def start(store: Store, request: Request, watch: Watch, member: Membership = ALONE) -> str:
    """Run a configuration from the beginning; the new run's id."""
    limits(request.config.limits)
    federation = build(request.config, request.data_path)
    run_id = new_run_id(request.config.name)
    with write.hold(store, run_id):
        with blobs.referring(store):
            announce(store, run_id, request, federation, member)
        _carry_on(store, run_id, federation, first_snapshot(federation), 0, watch)
    return run_id


def resume(
    store: Store, run: Run, watch: Watch, data_path: Path | None = None, rounds: int | str | None = None
) -> None:
    """Go on with a run that was stopped, killed or failed, from its newest whole checkpoint.

    `rounds`, a total or "+20", makes the run longer; then a run that is done goes on as well.
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
        server = run.environment.get("predict", here["predict"])  # a healed run was given another one later
        if rounds is None:
            write.restart(store, run.run_id, {**here, "predict": server})
        else:
            longer = lengthened(run, config, {**here, "predict": server})
            write.extend(store, longer, extension(store, run, config))
        snapshot, first = _newest(store, run.run_id, federation)
        text = f"was {was}; goes on after {first} of {federation.config.steps} checkpoints"
        write.add_events(store, run.run_id, [Event("resumed", text), *_changes(run.environment, here)])
        _carry_on(store, run.run_id, federation, snapshot, first, watch)


def announce(store: Store, run_id: str, request: Request, federation: Federation, member: Membership) -> None:
    config, partition = request.config, federation.partition
    run = NewRun(
        run_id=run_id,
        name=config.name,
        method=config.method.name,
        seed=config.seed,
        config=config.model_dump(),
        config_hash=config.fingerprint(),
        headline=federation.judge.headline,
        version=__version__,
        sweep=member.sweep,
        cell=member.cell,
        environment=surroundings(federation, request.data_path),
    )
    owned = PartitionRecord(
        fingerprint=partition.fingerprint,
        name=partition.name,
        options=config.partition.model_dump(),
        skew=partition.skew,
        counts=partition.counts.tolist(),
        overlaps=partition.overlaps,
        owners=blobs.put(store, _index_map(partition.counted)),
    )
    n_counted = min(federation.n_clients, len(partition.counts))
    counted = [federation.roster.counts(client).tolist() for client in range(n_counted)]
    clients = [Client(k, sum(counts), counts) for k, counts in enumerate(counted)]
    events = [Event("started", f"version {__version__}"), *partition_events(partition), *federation.notes]
    write.create_run(store, run, owned, clients, events)


def look_back(store: Store, run_id: str) -> None:
    """Diagnose a finished run, and keep what was found."""
    run = read.find_run(store, run_id)
    verdict = examine(stored(store, run), run.config.get("limits", {}))
    write.set_findings(store, run_id, [finding.to_json() for finding in verdict.findings])


def folder_of(run: Run, given: Path | None) -> Path | None:
    """Where a run's data lies: as given now, or where it lay then."""
    known = run.environment.get("data_path")
    return given or (Path(known) if known else None)


def require_same_data(run: Run, federation: Federation, folder: Path | None) -> dict[str, Any]:
    """What surrounds the federation now; refused if its data is not what the run began with."""
    here = surroundings(federation, folder)
    if here["content"] != run.environment["content"] or federation.partition.fingerprint != run.partition:
        what = f"the data is not what run '{run.run_id}' began with"
        raise ConfigError(what, where=str(folder or "data"), fix="give --path with the same files")
    return here


def surroundings(federation: Federation, data_path: Path | None) -> dict[str, Any]:
    """What the numbers depend on beside the configuration: the data's folder and content, and what computes."""
    folder = data_folder(data_path)
    plugins = [plugin.model_dump(exclude={"source"}) for plugin in federation.config.plugins]
    return {
        "data_path": str(folder.expanduser().resolve()) if folder else None,
        "content": federation.judge.content,
        "tested": federation.judge.tested,
        "predict": federation.method.predict,
        "together": federation.site.together,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
        **({"plugins": plugins} if plugins else {}),
    }


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Event]:
    changed = [key for key in ("python", "torch", "numpy", "machine") if before.get(key) != after[key]]
    text = ", ".join(f"{key} {before.get(key)} → {after[key]}" for key in changed)
    return [Event("environment-changed", f"{text}: the last bits may differ")] if changed else []


def _index_map(indices: Sequence[Indices]) -> bytes:
    """The partition itself: clients' images one after another, and where each client's begin."""
    bounds = np.cumsum([0, *(len(index) for index in indices)])
    return encode({}, {"owned": torch.from_numpy(np.concatenate(indices)), "bounds": torch.from_numpy(bounds)})


def _newest(store: Store, run_id: str, federation: Federation) -> tuple[Snapshot, int]:
    """The newest checkpoint that is whole; damaged ones are named and forgotten. If none is whole nothing changes."""
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


def _carry_on(store: Store, run_id: str, federation: Federation, snapshot: Snapshot, first: int, watch: Watch) -> None:
    """Take the remaining steps; whatever way this ends, the store says how."""
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
    except Halted as error:
        write.finish(store, run_id, "stopped", str(error))
        look_back(store, run_id)
        raise
    except BaseException as error:
        text = str(error) if isinstance(error, EquipoiseError) else repr(error)
        with suppress(StoreError):  # the first error is the one to report
            write.add_events(store, run_id, [Event("failed", text)])
            write.finish(store, run_id, "failed", text)
        raise
    finally:
        watch.end()
    look_back(store, run_id)


def is_alarming(event: Event) -> bool:
    """A check of features that came out well, and what a reader has to say of its data, alarm nobody."""
    if event.kind == "feature-check":
        return bool(event.detail["control"] != "as-given")
    return event.kind != "data-note"


class Left(NamedTuple):
    """What is left to do of a run."""

    federation: Federation
    snapshot: Snapshot
    first: int


def _take_steps(store: Store, run_id: str, left: Left, guard: Guard, watch: Watch) -> Left | None:
    """Take steps, committing each, until the run is over or goes on under another configuration."""
    engine, keeper = make_engine(left.federation.site), Keeper(partial(blobs.put, store))
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
    finally:
        engine.close()
    return None


def _reacted(store: Store, run_id: str, reaction: Reaction, watch: Watch, left: Left) -> Left:
    """Write down what the guard found and say it; end the run where it says so, or go on as it says."""
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
