"""Check that a table of features belongs to the items, before a run learns from it.

    refused: a row that is not finite or constant; a norm beyond 10× the median; over 5 % duplicates, 1 % zero rows;
             rows for fewer than half of the items; lift − mean ≤ 6 standard deviations of the lifts of shuffled rows;
             more lift, by as much, when all rows move one place up or down

A table whose rows belong to other items passes every other check: only lift (see `lift.py`) depends on which row is
whose. Without two users who have two items each, lift is NaN and not required.
Source: ours.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.values import Mask
from equipoise.data.interactions import Interactions
from equipoise.features.lift import Matrix, effective_rank, lifts

GIVEN = ("as-given", "unproven")
"""Settings that use the given features; any other setting draws a control in their place."""
MOST_NORM, MOST_DUPLICATES, MOST_ZEROS, LEAST_PRESENT, LEAST_DEVIATIONS = 10.0, 0.05, 0.01, 0.5, 6.0


@dataclass(frozen=True)
class RawFeatures:
    """One modality before it is scaled: rows [V, d] as they were read, and which items have one."""

    name: str
    rows: Matrix
    present: Mask
    where: str = ""
    control: str = "as-given"
    others: int = 0
    """Rows of the table that belong to no item of the catalogue."""


@dataclass(frozen=True)
class FeatureCheck:
    """Results for one modality; shares are of the items that have a row."""

    name: str
    where: str
    control: str
    """as-given, unproven, or the control that replaced the rows: shuffled or noise."""
    items: int
    width: int
    present: float
    """Share of the catalogue that has a row."""
    others: int
    """Rows of the table that belong to no item of the catalogue."""
    non_finite: int
    constant: int
    zeros: float
    duplicates: float
    norms: tuple[float, float]
    """Smallest and largest row norm, in medians; zero rows aside."""
    rank: float
    same_user: float
    two_users: float
    shuffled: float
    """Mean lift of the shuffles."""
    spread: float
    """Their standard deviation."""
    moved: float
    """The larger lift of the rows moved by one place, up or down in the order of ids."""

    @property
    def lift(self) -> float:
        return self.same_user - self.two_users

    @property
    def deviations(self) -> float:
        """How far the lift is from what shuffled rows give; NaN where there are no pairs."""
        return (self.lift - self.shuffled) / self.spread if self.spread > 0 else float("nan")

    def as_record(self) -> dict[str, Any]:
        return asdict(self) | {"lift": self.lift, "deviations": self.deviations, "text": str(self)}

    def __str__(self) -> str:
        low, high = self.norms
        lift = f"same-user lift {self.lift:+.4f} over {self.two_users:.4f}, shuffled {self.shuffled:+.5f}"
        lift += f" ± {self.spread:.5f}"
        if isnan(self.lift):
            lift = "whether they belong to these items was not examined: it takes two users with two items each"
        others = f" ({self.others} rows belong to none of them)" if self.others else ""
        return (
            f"{self.name} ({self.control}): {self.present:.1%} of {self.items} items × {self.width}{others}, norms"
            f" {low:.2f} to {high:.2f} medians, {self.duplicates:.1%} duplicate and {self.zeros:.1%} zero rows,"
            f" effective rank {self.rank:.0f}, {lift}"
        )


def check_features(raw: RawFeatures, interactions: Interactions) -> FeatureCheck:
    """Measure these rows. Random draws are fixed: the check depends on the table, not on the run."""
    there = raw.rows[raw.present]
    is_finite = np.isfinite(there).all(axis=1)
    finite = there[is_finite]
    norm = np.linalg.norm(finite.astype(np.float64), axis=1)
    has_length = norm > 0
    long, length = finite[has_length], norm[has_length]
    median = float(np.median(length)) if len(length) else 1.0
    unit = long / length[:, None].astype(np.float32)
    return FeatureCheck(
        name=raw.name, where=raw.where, control=raw.control,
        items=len(raw.rows), width=raw.rows.shape[1], present=float(raw.present.mean()), others=raw.others,
        non_finite=int((~is_finite).sum()), constant=int((long == long[:, :1]).all(axis=1).sum()),
        zeros=_share(~has_length), duplicates=_duplicates(long),
        norms=(float(length.min(initial=median) / median), float(length.max(initial=median) / median)),
        rank=effective_rank(unit), **lifts(unit, _usable(raw), interactions),
    )  # fmt: skip


def _usable(raw: RawFeatures) -> Mask:
    """Items whose row has a direction."""
    usable: Mask = raw.present & np.isfinite(raw.rows).all(axis=1) & (raw.rows != 0).any(axis=1)
    return usable


def _share(mask: Mask) -> float:
    return float(mask.mean()) if len(mask) else 0.0


def _duplicates(rows: Matrix) -> float:
    return (len(rows) - len({row.tobytes() for row in rows})) / len(rows) if len(rows) else 0.0


def problems(check: FeatureCheck) -> list[DataError]:
    """All reasons not to train on these features; a control may lack lift, and have rows of any length.

    So may what its user vouches for, `unproven`, but for the lengths: little content, or few users, show no lift.
    """
    faults = _row_faults(check)
    if check.control in GIVEN:
        faults += _length_faults(check)
    if check.control == "as-given":
        faults += _alignment_faults(check)
    return [DataError(f"{check.name} features: {what}", where=check.where, fix=fix) for what, fix in faults]


def _row_faults(check: FeatureCheck) -> list[tuple[str, str]]:
    faults = []
    if check.non_finite:
        faults.append((f"{check.non_finite} rows hold NaN or infinity", "compute these rows again, or leave them out"))
    if check.constant:
        faults.append((f"{check.constant} rows hold one number only", "compute these rows again, or leave them out"))
    if check.zeros > MOST_ZEROS:
        what = f"{check.zeros:.1%} of the rows are zero, more than {MOST_ZEROS:.0%}"
        faults.append((what, "leave out the rows of items without features: a missing row is masked"))
    if check.duplicates > MOST_DUPLICATES:
        what = f"{check.duplicates:.1%} of the rows repeat another row, more than {MOST_DUPLICATES:.0%}"
        faults.append((what, "leave out stand-ins such as a default picture: a missing row is masked"))
    if check.present < LEAST_PRESENT:
        what = f"{check.present:.1%} of {check.items} items have a row, fewer than {LEAST_PRESENT:.0%}"
        faults.append((what, "a table of this catalogue: are these the ids of another set?"))
    return faults


def _length_faults(check: FeatureCheck) -> list[tuple[str, str]]:
    low, high = check.norms
    if low >= 1 / MOST_NORM and high <= MOST_NORM:
        return []
    what = f"row norms go from {low:.3g} to {high:.3g} medians, beyond {MOST_NORM:.0f}×"
    return [(what, "look at the longest and the shortest rows: they are of another kind than the rest")]


def _alignment_faults(check: FeatureCheck) -> list[tuple[str, str]]:
    faults = []
    if check.deviations <= LEAST_DEVIATIONS:
        what = f"items of one user are no more alike ({check.lift:+.5f}) than with shuffled rows"
        what += f" ({check.shuffled:+.5f} ± {check.spread:.5f}): rows and items do not belong together"
        fix = "check the ids beside the rows; set data.features=unproven if they are right all the same"
        faults.append((what, f"{fix}, data.features=shuffled for the control"))
    elif check.moved - check.lift > LEAST_DEVIATIONS * check.spread:
        what = f"items of one user are more alike when the rows move by one place ({check.moved:+.5f})"
        what += f" than as given ({check.lift:+.5f}): every row is one place off"
        faults.append((what, "check whether ids begin at 0 or at 1"))
    return faults
