"""What goes into the store and comes out of it, beside the rows and events of a step."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from equipoise.core.values import Event

Ending = Literal["done", "failed", "stopped"]
Status = Literal["running", "done", "failed", "stopped", "killed"]
"""`killed` is never written: a run that says running while no process holds its lock is shown as killed."""
STATUSES: tuple[Status, ...] = get_args(Status)

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """What is known of a run before it starts."""

    run_id: str
    name: str
    method: str
    seed: int
    config: Mapping[str, Any]
    config_hash: str
    headline: str
    version: str
    sweep: str | None = None
    cell: str | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Run(NewRun):
    """A run as the store knows it; times are UTC, ISO 8601."""

    status: Status
    created: str
    updated: str
    finished: str | None
    error: str | None
    partition: str | None


@dataclass(frozen=True)
class Client:
    """One client's share of the data; `labels[c]` is its number of samples of class c."""

    client: int
    samples: int
    labels: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class PartitionRecord:
    """Who owns what; `counts[k][c]` per client and class, `owners` the digest of the blob with the index map.

    Both are of the first clients only where there are more than were counted.
    """

    fingerprint: str
    name: str
    options: Mapping[str, Any]
    skew: Mapping[str, Any]
    counts: Sequence[Sequence[int]]
    overlaps: bool
    owners: str

    @property
    def n_clients(self) -> int:
        return self.options.get("clients") or len(self.counts)

    @property
    def overlap_text(self) -> str:
        """The share of samples on several clients, as text; ≈ where it is what is expected."""
        return f"{'≈ ' if self.n_clients > len(self.counts) else ''}{self.skew['overlap']:.1%}"


@dataclass(frozen=True)
class Checkpoint:
    """A step that is whole: `manifest` gives, by name, the digests of the blobs that hold the state after it."""

    step: int
    manifest: Mapping[str, str]
    time: str


@dataclass(frozen=True)
class RecordedEvent:
    """An event, and when it was written down."""

    time: str
    event: Event


def new_run_id(name: str) -> str:
    """The name with six random characters behind it, as in fedavg-7k3q9x; safe as a file name."""
    slug = re.sub(r"[^\w.-]+", "-", name.lower())[:40].strip(".-") or "run"
    return f"{slug}-{''.join(secrets.choice(CROCKFORD) for _ in range(6))}"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
