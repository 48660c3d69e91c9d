"""Removes runs, and measures how much space that frees."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select

from equipoise.core.errors import StoreError
from equipoise.store import blobs, tables
from equipoise.store.read import find_run, referenced
from equipoise.store.transact import Store, reading, writing


def would_free(store: Store, run_ids: Collection[str]) -> int:
    """Bytes of the files that only these runs refer to."""
    rows, owned = tables.checkpoints.c, tables.runs.c
    with reading(store) as connection:
        manifests = connection.execute(select(rows.run_id, rows.manifest)).all()
        known = connection.execute(select(tables.partitions.c.fingerprint, tables.partitions.c.owners))
        partitions = {row.fingerprint: row.owners for row in known}
        uses = connection.execute(select(owned.run_id, owned.partition_fingerprint)).all()
    pairs = [(run_id, digest) for run_id, manifest in manifests for digest in manifest.values()]
    pairs += [(run_id, partitions[fingerprint]) for run_id, fingerprint in uses if fingerprint in partitions]
    kept = {digest for run_id, digest in pairs if run_id not in run_ids}
    return sum(blobs.size(store, digest) for digest in {digest for _, digest in pairs} - kept)


def left_over(store: Store) -> int:
    """Bytes of unreferenced files."""
    return blobs.unreferenced(store, referenced(store))


def remove(store: Store, run_ids: Collection[str]) -> None:
    """Removes all of these runs or none of them, and partitions that no run uses any more."""
    alive = [run_id for run_id in run_ids if find_run(store, run_id).status == "running"]
    if alive:
        what = f"somebody is working on {', '.join(alive)}, here or on another machine"
        raise StoreError(what, where=store.location, fix="stop it first, or leave it out")
    runs, partitions = tables.runs, tables.partitions
    with writing(store) as connection:
        connection.execute(delete(runs).where(runs.c.run_id.in_(run_ids)))
        used = select(runs.c.partition_fingerprint).where(runs.c.partition_fingerprint.is_not(None))
        connection.execute(delete(partitions).where(partitions.c.fingerprint.not_in(used)))
