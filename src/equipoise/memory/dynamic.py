"""What a client remembers of its own history: what surprised it, and what was new to it.

    write t    if z_t > surprise, or 1 − max_{s ∈ last 50} ⟨f_t, f_s⟩ > novelty
    short      the last 50 written, first in, first out; what leaves it goes to the long term
    long       200 rows; a near-duplicate (⟨f, f'⟩ ≥ merge) joins the older row: uses + 1, time = now
    utility    e^{−age·ln 2/half_life} + ln(1 + uses)/ln(2 + uses)        the least is forgotten

z_t is the client's standardised loss at position t, f unit features of items. Time is the position in the history,
never a clock on the wall, and the memory before position t is made of positions below t alone, so a target cannot be
in the memory it is predicted from unless it was met before. Source: ours, after the fifth original report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from equipoise.core.options import Options
from equipoise.core.values import Indices

Rows = NDArray[np.float32]
Mask = NDArray[np.bool_]
Kept = tuple[Indices, Indices, Indices]
"""(position, time of the last use, uses) of everything remembered."""
RECENT = 50
"""Positions that novelty compares with."""


class MemoryOptions(Options):
    """What is written, kept and read."""

    surprise: float = Field(1.0, description="a loss so many deviations above the client's mean is written")
    novelty: float = Field(0.5, ge=0, le=2, description="1 − cosine to the nearest recent item from which one is new")
    short: int = Field(50, ge=1, description="rows of the short term")
    long: int = Field(200, ge=1, description="rows of the long term")
    merge: float = Field(0.95, ge=-1, le=1, description="cosine from which two rows are one")
    half_life: float = Field(200.0, gt=0, description="positions after which recency counts half")
    read: int = Field(20, ge=1, description="rows that the experts read")
    mix: float = Field(0.3, ge=0, le=1, description="share of utility in what is read; the rest is similarity")


@dataclass
class Memory:
    """Positions in the history, oldest write first, and how often each was met again."""

    short: list[int] = field(default_factory=list)
    long: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)

    def rows(self) -> Kept:
        positions = np.array([*self.long, *self.short], dtype=np.int64)
        times = np.array([*self.times, *self.short], dtype=np.int64)
        uses = np.array([*self.uses, *[1] * len(self.short)], dtype=np.int64)
        return positions, times, uses


def novelty(features: Rows) -> NDArray[np.float32]:
    """1 − the largest cosine to one of the last 50, for every position; 1 at the first. Features [n, d] of length 1."""
    n = len(features)
    nearest = np.zeros(n, dtype=np.float32)
    for first in range(0, n, RECENT):
        last, before = min(first + RECENT, n), max(0, first - RECENT)
        cosine = features[first:last] @ features[before:last].T
        age = np.arange(first, last)[:, None] - np.arange(before, last)[None]
        cosine[(age < 1) | (age > RECENT)] = -np.inf
        nearest[first:last] = cosine.max(1)
    nearest[:1] = 0
    return 1 - nearest


def written(surprise: Rows, new: Rows, options: MemoryOptions) -> Mask:
    """Which positions are written down."""
    return (surprise > options.surprise) | (new > options.novelty)


def replay(features: Rows, writes: Mask, bounds: Sequence[int], options: MemoryOptions) -> Iterator[Kept]:
    """The memory as it stood before each of the ascending positions `bounds`."""
    memory, done = Memory(), 0
    for bound in bounds:
        for position in np.flatnonzero(writes[done:bound]) + done:
            _write(memory, int(position), features, options)
        done = max(done, bound)
        yield memory.rows()


def _write(memory: Memory, position: int, features: Rows, options: MemoryOptions) -> None:
    memory.short.append(position)
    if len(memory.short) <= options.short:
        return
    leaving = memory.short.pop(0)
    if memory.long:
        cosine = features[memory.long] @ features[leaving]
        twin = int(cosine.argmax())
        if cosine[twin] >= options.merge:
            memory.uses[twin] += 1
            memory.times[twin] = position
            return
    memory.long.append(leaving)
    memory.times.append(leaving)
    memory.uses.append(1)
    if len(memory.long) > options.long:
        worst = int(utility(np.array(memory.times), np.array(memory.uses), position, options).argmin())
        for column in (memory.long, memory.times, memory.uses):
            del column[worst]


def utility(times: Indices, uses: Indices, now: int, options: MemoryOptions) -> NDArray[np.float64]:
    """Recency and frequency, each between 0 and 1."""
    recency: NDArray[np.float64] = np.exp(-(now - times) * np.log(2) / options.half_life)
    return np.add(recency, np.log1p(uses) / np.log(2 + uses))


def retrieve(rows: Kept, features: Rows, query: Rows, now: int, options: MemoryOptions) -> tuple[Indices, Mask]:
    """The `read` rows nearest to the query, similarity mixed with utility: (positions [M], valid [M]).

    `features` [R, d] are those of the rows.
    """
    positions, times, uses = rows
    score = (1 - options.mix) * (features @ query) + options.mix * utility(times, uses, now, options) / 2
    best = np.argsort(-score, kind="stable")[: options.read]
    chosen = np.zeros(options.read, dtype=np.int64)
    chosen[: len(best)] = positions[best]
    return chosen, np.arange(options.read) < len(best)
