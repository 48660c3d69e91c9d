"""Records a run in the store before its first step: settings, partition, clients, environment."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from equipoise import __version__
from equipoise.config.loader import Request
from equipoise.core.codec import encode
from equipoise.core.errors import ConfigError
from equipoise.core.values import Event, Indices
from equipoise.data.source import data_folder
from equipoise.partition.divide import events as partition_events
from equipoise.run.build import Federation
from equipoise.run.placed import described_device
from equipoise.store import blobs, write
from equipoise.store.database import Store
from equipoise.store.records import Client, NewRun, PartitionRecord, Run


@dataclass(frozen=True)
class Membership:
    """The sweep a run belongs to, and the label of its cell there."""

    sweep: str | None = None
    cell: str | None = None


ALONE = Membership()


def announce(store: Store, run_id: str, request: Request, federation: Federation, member: Membership) -> None:
    config, partition = federation.config, federation.partition
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


def folder_of(run: Run, given: Path | None) -> Path | None:
    """The data folder of a run: the given one, or the one it was run with."""
    known = run.environment.get("data_path")
    return given or (Path(known) if known else None)


def require_same_data(run: Run, federation: Federation, folder: Path | None) -> dict[str, Any]:
    """The federation's current environment; refused if its data is not the data that the run began with."""
    here = surroundings(federation, folder)
    if here["content"] != run.environment["content"] or federation.partition.fingerprint != run.partition:
        what = f"the data is not what run '{run.run_id}' began with"
        raise ConfigError(what, where=str(folder or "data"), fix="give --path with the same files")
    return here


def surroundings(federation: Federation, data_path: Path | None) -> dict[str, Any]:
    """What the numbers depend on beside the configuration: folder and content of the data, software and machine."""
    folder = data_folder(data_path)
    plugins = [plugin.model_dump(exclude={"source"}) for plugin in federation.config.plugins]
    return {
        "data_path": str(folder.expanduser().resolve()) if folder else None,
        "content": federation.judge.content,
        "tested": federation.judge.tested,
        "choice": federation.judge.choice,
        "predict": federation.method.predict,
        "together": federation.site.together,
        "device": described_device(federation.config),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
        **({"plugins": plugins} if plugins else {}),
    }


def changes_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Event]:
    changed = [key for key in ("python", "torch", "numpy", "machine") if before.get(key) != after[key]]
    text = ", ".join(f"{key} {before.get(key)} → {after[key]}" for key in changed)
    return [Event("environment-changed", f"{text}: the last bits may differ")] if changed else []


def _index_map(indices: Sequence[Indices]) -> bytes:
    """The partition itself: the clients' sample indices one after another, and the offset of each client."""
    bounds = np.cumsum([0, *(len(index) for index in indices)])
    return encode({}, {"owned": torch.from_numpy(np.concatenate(indices)), "bounds": torch.from_numpy(bounds)})
