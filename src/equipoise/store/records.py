"""The records that go into the store and come out of it, apart from the rows and events of a step."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from equipoise.core.errors import ConfigError
from equipoise.core.values import Event

Ending = Literal["done", "failed", "stopped"]
Status = Literal["running", "done", "failed", "stopped", "killed"]
"""`killed` is never written: a run with status `running` whose lock no process holds is shown as killed."""
STATUSES: tuple[Status, ...] = get_args(Status)

IMPORTED = "imported"
"""The method of a run that another tool made."""
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
    """A stored run; times are UTC in ISO 8601."""

    status: Status
    created: str
    updated: str
    finished: str | None
    error: str | None
    partition: str | None

    @property
    def is_imported(self) -> bool:
        """Whether another tool made the run: there are numbers, but no state to go on from."""
        return self.method == IMPORTED

    @property
    def origin(self) -> str:
        """Of an imported run: the tool, the id there, and where it was read."""
        found = self.environment.get(IMPORTED, {})
        return f"{found.get('tool')}: {found.get('id')} in {found.get('source')}"


def refuse_imported(run: Run, wanted: str) -> None:
    """Refuse what needs more of a run than its numbers, if another tool made it; `wanted` as in "to resume"."""
    if run.is_imported:
        what = f"run '{run.run_id}' was imported from {run.origin}: there are numbers, but nothing {wanted}"
        raise ConfigError(what, fix="diagnose, compare, report, show and export its numbers; to train, start a new run")


@dataclass(frozen=True)
class Client:
    """One client's share of the data; `labels[c]` is its number of samples of class c."""

    client: int
    samples: int
    labels: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class PartitionRecord:
    """Which client owns which samples.

    `counts[k][c]` is the number of samples of class c on client k; `owners` is the digest of the blob with the index
    map. In very large federations both cover the first clients only.
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
        """The share of samples on several clients, as text; ≈ marks an estimate."""
        return f"{'≈ ' if self.n_clients > len(self.counts) else ''}{self.skew['overlap']:.1%}"


@dataclass(frozen=True)
class Checkpoint:
    """A complete step; `manifest` maps names to the digests of the blobs that hold the state after it."""

    step: int
    manifest: Mapping[str, str]
    time: str


@dataclass(frozen=True)
class RecordedEvent:
    """An event and the time at which it was recorded."""

    time: str
    event: Event


def new_run_id(name: str) -> str:
    """The name followed by six random characters, as in fedavg-7k3q9x; safe as a file name."""
    slug = re.sub(r"[^\w.-]+", "-", name.lower())[:40].strip(".-") or "run"
    return f"{slug}-{''.join(secrets.choice(CROCKFORD) for _ in range(6))}"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
