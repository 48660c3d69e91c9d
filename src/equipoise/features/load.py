"""Load item features: read tables, match rows by id, check them, and scale rows to length 1.

A missing or misaligned table is an error. An item without a row is masked and gets zeros, never noise and never another
item's row; so does an item whose row is zero. Two controls replace the rows on purpose, and the check says so:

    shuffled   rows permuted among the items that have one
    noise      rows ~ N(0, 0.01²), not scaled, as the fifth report's code put in place of a missing file
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.core.streams import stream
from equipoise.core.values import Mask
from equipoise.data.interactions import MODALITIES, Features, Ids, Interactions
from equipoise.data.planted import PlantedOptions, planted, planted_table
from equipoise.data.rows import some
from equipoise.features.check import FeatureCheck, RawFeatures, check_features, problems
from equipoise.features.lift import Matrix
from equipoise.features.tables import FeatureTable, read_features

NOISE = 0.01


def item_features(
    options: InteractionOptions, interactions: Interactions, folder: Path | None, seed: int = 0
) -> dict[str, Features]:
    """The modalities that the options name, each with its check; a table that fails its check is a DataError.

    `seed` is the run's: a control is drawn anew for each seed, so that a study averages over shuffles.
    """
    found = {}
    for name in MODALITIES:
        if getattr(options, name) is not None:
            raw = _raw(name, options, interactions.item_ids, folder)
            rng = stream(seed, "features", options.features, name)
            raw = replace(raw, rows=controlled(raw.rows, raw.present, options.features, rng))
            check = check_features(raw, interactions)
            if not isinstance(options, PlantedOptions):  # a generator's rows are its items' own, whatever they say
                _require_sound(check)
            found[name] = _scaled(raw, check)
    return found


def planted_features(options: PlantedOptions) -> dict[str, Features]:
    """The features of the items of `planted(options)`."""
    return item_features(options, planted(options, None), None)


def _raw(name: str, options: InteractionOptions, item_ids: Ids, folder: Path | None) -> RawFeatures:
    if isinstance(options, PlantedOptions):
        table = FeatureTable(planted_table(options, name), None, "the generator")
    else:
        table = read_features(getattr(options, name), folder)
    rows, present = matched(table, item_ids)
    return RawFeatures(name, rows, present, table.where, options.features, len(table.rows) - int(present.sum()))


def _require_sound(check: FeatureCheck) -> None:
    """Raise one error that lists every problem."""
    errors = problems(check)
    if errors:
        fixes = dict.fromkeys(error.fix for error in errors)
        raise DataError("\n".join(error.what for error in errors), where=check.where, fix="; ".join(fixes))


def _scaled(raw: RawFeatures, check: FeatureCheck) -> Features:
    rows = raw.rows if raw.control == "noise" else unit(raw.rows)
    return Features(raw.name, rows, raw.present & (rows != 0).any(axis=1), check)


def matched(table: FeatureTable, item_ids: Ids) -> tuple[Matrix, Mask]:
    """[V, d] raw rows by item, zeros where there is none, and which items have one."""
    at = _by_number(table, item_ids) if table.ids is None else _by_id(table.ids, item_ids, table.where)
    present = at >= 0
    rows = np.zeros((len(item_ids), table.rows.shape[1]), np.float32)
    rows[present] = table.rows[at[present]]
    return rows, present


def _by_number(table: FeatureTable, item_ids: Ids) -> NDArray[np.int64]:
    """Row i is item i, so every item must be a row: an id beyond the table is never clamped."""
    n_rows = len(table.rows)
    is_number = np.issubdtype(item_ids.dtype, np.integer)
    outside = [item for item in item_ids.tolist() if not is_number or not 0 <= item < n_rows]
    if outside:
        what = f"{len(outside)} of {len(item_ids)} items lie outside the table, whose rows are 0 to {n_rows - 1}:"
        fix = "a table with a column of ids (item_id), or one with a row for every id"
        raise DataError(f"{what} {some(outside)}", where=table.where, fix=fix)
    return item_ids.astype(np.int64)


def _by_id(ids: Ids, item_ids: Ids, where: str) -> NDArray[np.int64]:
    """The row of each item, −1 if it has none; ids are compared as text."""
    if not len(ids):
        raise DataError("the table has no rows", where=where, fix="write the table with the ids of this set")
    if ids.dtype.kind != item_ids.dtype.kind:
        ids, item_ids = ids.astype(np.str_), item_ids.astype(np.str_)
    order = np.argsort(ids)
    place = np.searchsorted(ids, item_ids, sorter=order).clip(max=len(ids) - 1)
    at = np.where(ids[order[place]] == item_ids, order[place], -1)
    if (at < 0).all():
        theirs, ours = some(ids.tolist()), some(item_ids.tolist())
        what = f"no item has a row: the table names {theirs} and the items are {ours}"
        raise DataError(what, where=where, fix="write the table with the ids of this set")
    return at


def controlled(rows: Matrix, present: Mask, control: str, rng: np.random.Generator) -> Matrix:
    """The given rows, or those of a control."""
    changed = rows.copy()
    if control == "shuffled":
        changed[present] = rng.permutation(rows[present])
    if control == "noise":
        changed[present] = NOISE * rng.standard_normal((int(present.sum()), rows.shape[1]))
    return changed


def unit(rows: Matrix) -> Matrix:
    """Rows of length 1; a row of zeros stays zero."""
    norm = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    scaled: Matrix = (rows / np.where(norm > 0, norm, 1)).astype(np.float32)
    return scaled
