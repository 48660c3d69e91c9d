"""Reads TensorBoard event files as a long table; `client_3/lam` is client 3's `lam`, other tags are the server's."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from equipoise.core.errors import DataError, MissingExtra

SCHEMA = {"run": pl.String, "step": pl.Int64, "client": pl.String, "name": pl.String, "value": pl.Float64}
CLIENT = re.compile(r"^clients?[_/ -]?(\d+)/(.+)$")


def client_and_name(tag: str) -> tuple[str | None, str]:
    """
    >>> client_and_name("client_3/lam"), client_and_name("loss/base")
    (('3', 'lam'), (None, 'loss/base'))
    """
    found = CLIENT.match(tag)
    return (found[1], found[2]) if found else (None, tag)


def read_events(path: Path) -> pl.DataFrame:
    """The scalars of an event file, or of all event files in a folder."""
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError:
        raise MissingExtra("reading event files needs: pip install 'equipoise[track]'") from None
    events = EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0})
    try:
        events.Reload()
    except Exception as error:  # the library passes on any error of its parser
        raise DataError(f"'{path.name}' is not an event file: {error}", where=str(path), fix="check the file") from None
    rows, label = [], path.name if path.is_dir() else path.parent.name
    for tag in events.Tags()["scalars"]:
        client, name = client_and_name(tag)
        rows += [(label, event.step, client, name, event.value) for event in events.Scalars(tag)]
    if not rows:
        raise DataError(f"there are no scalars in '{path.name}'", where=str(path), fix="write numbers with add_scalar")
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
