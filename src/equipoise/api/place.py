"""Locates the store: the given one, EQUIPOISE_STORE, or runs/equipoise.db in the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from equipoise.store.transact import Store

StoreAt: TypeAlias = str | Path | None
"""A file, a postgresql:// URL, or None for the default."""


def located(store: StoreAt) -> str:
    """The store's location as a run remembers it: a file by its full path, so that it is found from every folder."""
    from equipoise.store.database import default_location

    place = str(store) if store is not None else default_location()
    return place if "://" in place else str(Path(place).absolute())


def existing(store: StoreAt) -> Store:
    """The opened store; a missing one is not created."""
    from equipoise.store.database import open_existing

    return open_existing(None if store is None else str(store))
