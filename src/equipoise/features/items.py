"""Items and the text or picture of each. An item without one is left out, never filled in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from equipoise.core.errors import DataError
from equipoise.data.columns import read_table
from equipoise.data.interactions import Ids
from equipoise.data.rows import some

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")


@dataclass(frozen=True)
class ItemSource:
    """Where items come from: the kind of content, the place, and facts that are stored with the table."""

    thing: str
    where: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Items(Generic[T]):
    """Ids and their content; `without` are the ids of items without content."""

    source: ItemSource
    ids: Ids
    things: list[T]
    without: Ids
    stamp: str
    """A digest of the content, and of how the source was read."""


def gathered(source: ItemSource, ids: Ids, things: Sequence[T | None], mark: Callable[[T], str]) -> Items[T]:
    """Items with unique ids, at least one of which has content; `mark` identifies content for the digest."""
    names, counts = np.unique(ids, return_counts=True)
    twice = names[counts > 1].tolist()
    if twice:
        what = f"{len(twice)} of {len(names)} ids stand there more than once: {some(twice)}"
        raise DataError(what, where=source.where, fix="keep one per item")
    has = np.array([thing is not None for thing in things], dtype=np.bool_)
    if not has.any():
        what = f"none of {len(ids)} items has a {source.thing}"
        raise DataError(what, where=source.where, fix=f"name where the {source.thing}s are; nothing takes their place")
    kept = [thing for thing in things if thing is not None]
    stamp = digest([repr(sorted(source.facts.items())), *(mark(thing) for thing in kept)])
    return Items(source, ids[has], kept, ids[~has], stamp)


def digest(texts: Sequence[str]) -> str:
    """SHA-256 of texts, each with its length, so that different lists cannot have the same bytes."""
    state = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        state.update(f"{len(data)}:".encode() + data)
    return state.hexdigest()


def table_of(path: Path, names: Sequence[str], fix: str) -> pl.DataFrame:
    """These columns of a table; `fix` tells the user how to name columns."""
    if not path.is_file():
        raise DataError(f"there is no table {path}", where=str(path), fix="name a CSV, TSV or Parquet file")
    try:
        return read_table(path, list(dict.fromkeys(names)))
    except DataError as error:
        is_column = error.what.startswith("there is no column")
        raise DataError(error.what, where=error.where, fix=fix if is_column else error.fix) from error
