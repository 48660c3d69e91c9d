"""Settings of a client's dynamic memory."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from equipoise.core.options import Options


class MemoryOptions(Options):
    """What the memory writes, keeps and reads."""

    surprise: float = Field(
        1.0, description="write a position whose loss is this many deviations above the client's mean"
    )
    novelty: float = Field(
        1.0, description="write an item that is this many deviations newer than is usual for the client"
    )
    short: int = Field(50, ge=1, description="rows of the short-term memory")
    long: int = Field(200, ge=1, description="rows of the long-term memory")
    merge: float = Field(0.95, ge=-1, le=1, description="merge two rows from this cosine similarity on")
    half_life: float = Field(200.0, gt=0, description="number of positions after which recency counts half")
    read: int = Field(20, ge=1, description="number of rows that the experts read")
    mix: float = Field(
        0.3, ge=0, le=1, description="weight of utility when rows are chosen; the rest is similarity to the query"
    )


@dataclass(frozen=True)
class HistoryNeeds:
    """What a method asks of clients that hold histories."""

    memory: MemoryOptions | None = None
    """What clients remember; None: experts read the most recent items."""
    prototypes: int = 0
    """Centres of its memory that a client reports to the server."""
    negatives: int = 0
    """Items that a client draws to compare with; 0: it compares with the whole catalogue."""
