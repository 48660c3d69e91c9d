"""What a client's memory can be told."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from equipoise.core.options import Options


class MemoryOptions(Options):
    """What is written, kept and read."""

    surprise: float = Field(1.0, description="a loss so many deviations above the client's mean is written")
    novelty: float = Field(1.0, description="an item so many deviations newer than the client is used to is written")
    short: int = Field(50, ge=1, description="rows of the short term")
    long: int = Field(200, ge=1, description="rows of the long term")
    merge: float = Field(0.95, ge=-1, le=1, description="cosine from which two rows are one")
    half_life: float = Field(200.0, gt=0, description="positions after which recency counts half")
    read: int = Field(20, ge=1, description="rows that the experts read")
    mix: float = Field(0.3, ge=0, le=1, description="share of utility in what is read; the rest is similarity")


@dataclass(frozen=True)
class HistoryNeeds:
    """What a method asks of clients that hold histories."""

    memory: MemoryOptions | None = None
    """What clients remember; None: experts read the most recent items."""
    prototypes: int = 0
    """Centres of its memory that a client reports to the server."""
    negatives: int = 0
    """Items that a client draws to compare with; 0: it compares with the whole catalogue."""
