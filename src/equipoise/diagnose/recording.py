"""A run as rules see it: curves by name, facts and events, from the store or from another framework's table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Event, Floats

Steps = NDArray[np.int64]
SERVER = -1
"""The client number that stands for the server."""
FACT = "fact:"


@dataclass(frozen=True)
class Curve:
    """One metric of one client (None: the server) over checkpoints, in order."""

    client: int | None
    steps: Steps
    values: Floats

    def __len__(self) -> int:
        return len(self.steps)

    def at(self, step: int) -> float:
        """The newest value at or before that checkpoint; NaN before the first."""
        k = int(np.searchsorted(self.steps, step, side="right"))
        return float(self.values[k - 1]) if k else float("nan")

    def until(self, step: int) -> Curve:
        k = int(np.searchsorted(self.steps, step, side="right"))
        return Curve(self.client, self.steps[:k], self.values[:k])

    def finite(self) -> Curve:
        good = np.isfinite(self.values)
        return self if good.all() else Curve(self.client, self.steps[good], self.values[good])

    def since(self, step: int) -> Curve:
        k = int(np.searchsorted(self.steps, step))
        return Curve(self.client, self.steps[k:], self.values[k:])


@dataclass(frozen=True)
class TableRow:
    """One row of a comparison: a configuration with its results over seeds."""

    label: str
    settings: Mapping[str, Any]
    """Dotted keys of the configuration."""
    metric: str
    results: Mapping[int, tuple[float, ...]]
    """{seed: the metric over the scored checkpoints}."""
    partitions: frozenset[str] = frozenset()

    @property
    def finals(self) -> dict[int, float]:
        return {seed: values[-1] for seed, values in self.results.items()}


@dataclass(frozen=True)
class Recording:
    """Everything recorded of one run, or of a comparison."""

    name: str
    curves: Mapping[str, Mapping[int, Curve]]
    """{metric name: {client: curve}}; the server's curve is under SERVER."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What rules need besides numbers: classes, lam_max, stage_switch, …"""
    events: Sequence[Event] = ()
    reference: Recording | None = None
    """The run to compare with, if there is one."""
    table: Sequence[TableRow] = ()
    """The rows of a comparison; differences are against the first."""

    def clients(self, name: str) -> list[Curve]:
        """The curves of all clients that recorded this metric, ordered by client."""
        return [curve for client, curve in self.curves.get(name, {}).items() if client != SERVER]

    def server(self, name: str) -> Curve:
        """The server's curve of this metric; empty if there is none."""
        return self.curves.get(name, {}).get(SERVER, EMPTY)

    def of(self, name: str, client: int) -> Curve:
        return self.curves.get(name, {}).get(client, EMPTY)

    def names(self, pattern: str) -> list[str]:
        """The recorded names that match a pattern such as `loss/*`."""
        if "*" not in pattern:
            return [pattern] if pattern in self.curves else []
        return sorted(name for name in self.curves if fnmatchcase(name, pattern))

    def mean(self, name: str) -> Curve:
        """The mean over clients at each checkpoint at which some client recorded it."""
        curves = self.clients(name)
        if not curves:
            return EMPTY
        steps, place = np.unique(np.concatenate([curve.steps for curve in curves]), return_inverse=True)
        values = np.concatenate([curve.values for curve in curves])
        return Curve(None, steps, np.bincount(place, values) / np.bincount(place))

    @property
    def local(self) -> Curve:
        """Mean test accuracy of the clients' own models."""
        recorded = self.server("accuracy/clients")
        return recorded if len(recorded) else self.mean("accuracy/test")

    @property
    def last(self) -> int:
        """The newest checkpoint."""
        return max((int(curve.steps[-1]) for curve in self._all() if len(curve)), default=0)

    @property
    def steps(self) -> int:
        """The planned number of checkpoints, or the recorded number if no plan is known."""
        return int(self.facts.get("steps") or self.last + 1)

    def lacks(self, need: str) -> bool:
        """Whether an input is missing: a name, a pattern, `fact:x`, `reference`, `table`, or several joined by |."""
        return not any(self._has(one) for one in need.split("|"))

    def _has(self, need: str) -> bool:
        if need.startswith(FACT):
            return self.facts.get(need.removeprefix(FACT)) is not None
        if need == "reference":
            return self.reference is not None
        if need == "table":
            return len(self.table) > 1
        return bool(self.names(need))

    def until(self, step: int) -> Recording:
        """The run as it was recorded up to that checkpoint."""
        events = [event for event in self.events if event.step is None or event.step <= step]
        return replace(self._each(lambda curve: curve.until(step)), events=events)

    def finite(self) -> Recording:
        """The run without non-finite numbers; the reference run too."""
        reference = None if self.reference is None else self.reference.finite()
        return replace(self._each(Curve.finite), reference=reference)

    def _each(self, change: Callable[[Curve], Curve]) -> Recording:
        """Applies a change to every curve and drops curves that become empty."""
        curves = {
            name: {client: kept for client, curve in by.items() if len(kept := change(curve))}
            for name, by in self.curves.items()
        }
        return replace(self, curves={name: by for name, by in curves.items() if by})

    def _all(self) -> Iterator[Curve]:
        for by in self.curves.values():
            yield from by.values()


EMPTY = Curve(None, np.empty(0, dtype=np.int64), np.empty(0))


def recording(
    name: str, names: Sequence[str], which: NDArray[np.intp], clients: Steps, steps: Steps, values: Floats, **rest: Any
) -> Recording:
    """Builds a recording from rows in any order; `names[which[i]]` is the name of row i, SERVER the server's client."""
    order = np.lexsort((steps, clients, which))
    which, clients, steps, values = which[order], clients[order], steps[order], values[order]
    new = np.flatnonzero(np.diff(which) | np.diff(clients)) + 1
    curves: dict[str, dict[int, Curve]] = {}
    for rows in np.split(np.arange(len(which)), new) if len(which) else []:
        first, client = rows[0], int(clients[rows[0]])
        part = slice(first, rows[-1] + 1)
        owner = None if client == SERVER else client
        curves.setdefault(names[which[first]], {})[client] = Curve(owner, steps[part], values[part])
    return Recording(name, curves, **rest)
