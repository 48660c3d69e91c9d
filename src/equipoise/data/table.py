"""Your own interactions: any CSV, TSV or Parquet table with a column of users, one of items and one of times.

Ids are whole numbers or text. Times are numbers, dates or moments in ISO form, the same clock for all users; with
`clock: own` they are ranks within each user, which give an order but no moments. Numbers count as seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from equipoise.config.blocks import InteractionOptions
from equipoise.core.registry import DATASETS
from equipoise.data.columns import ids_of, moments_of, read_table
from equipoise.data.interactions import Interactions
from equipoise.data.own import OWN_FILES, OwnPlace, own_path
from equipoise.data.rows import interactions_of, rows_of


class TableOptions(InteractionOptions):
    """Which file, and what its columns are called."""

    name: str = "table"
    file: str | None = Field(
        None, description="the table, relative to the data folder; not needed where data.path is the table itself"
    )
    user: str = Field("user", description="column of users")
    item: str = Field("item", description="column of items")
    time: str = Field("time", description="column of times: numbers, dates or ranks")
    clock: Literal["shared", "own"] = Field(
        "shared", description="times are moments that all users share, or ranks within each user's own history"
    )


@DATASETS.register("table", options=TableOptions, traits=("own-file",))
def table(options: TableOptions, folder: Path | None) -> Interactions:
    path = table_file(options, folder)
    columns, where = read_table(path, [options.user, options.item, options.time]), str(path)
    order, seconds = moments_of(columns[options.time], where)
    users, items = ids_of(columns[options.user], where), ids_of(columns[options.item], where)
    rows = rows_of(users, items, order, seconds if options.clock == "shared" else None, where)
    return interactions_of("table", rows, options)


def table_file(options: TableOptions, folder: Path | None) -> Path:
    """The file that the options name."""
    return own_path(options.file, folder, OwnPlace("data.file", "table"))


OWN_FILES["table"] = lambda options, folder: (table_file(options, folder),)
