"""A finished study as one table of numbers: label, seed, step, client (None: the server), name, value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import polars as pl

from equipoise.run.fuse import Server, fuse
from equipoise.store import metrics, read
from equipoise.store.transact import Store

LAST = -1
HIT = "hit@10"
"""1 for users whose test item was among the first ten, else 0; followed by the protocol."""
SCHEMA = {
    "label": pl.Utf8,
    "seed": pl.Int64,
    "step": pl.Int64,
    "client": pl.Int64,
    "name": pl.Utf8,
    "value": pl.Float64,
}


@dataclass(frozen=True)
class Study:
    """All rows of a sweep, and the run of each (label, seed)."""

    name: str
    rows: pl.DataFrame
    runs: dict[tuple[str, int], str]
    store: Store | None = None
    """Where the clients are kept, for studies that fuse them."""

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for label, _ in self.runs))

    @property
    def seeds(self) -> list[int]:
        return sorted({seed for _, seed in self.runs})

    def named(self, label: str) -> str:
        """A row that lacks seeds says which it has."""
        seeds = [seed for seed in self.seeds if (label, seed) in self.runs]
        return label if seeds == self.seeds else f"{label} (seed {', '.join(map(str, seeds))})"

    def common(self, ours: str, theirs: str) -> list[int]:
        """Seeds that both rows have."""
        return [seed for seed in self.seeds if {(ours, seed), (theirs, seed)} <= self.runs.keys()]

    def server(self, label: str, name: str, step: int = LAST) -> list[float]:
        """The server's figure at a step (the last unless given) of every seed that has been run."""
        return [self.at(label, seed, name, None, step) for seed in self.seeds if (label, seed) in self.runs]

    def at(self, label: str, seed: int, name: str, client: int | None, step: int = LAST) -> float:
        values = self.curve(label, seed, name, client)
        return values[step]

    def curve(self, label: str, seed: int, name: str, client: int | None) -> list[float]:
        """The figure at every checkpoint that has it, in order."""
        found = self.rows.filter(
            pl.col("label") == label,
            pl.col("seed") == seed,
            pl.col("name") == name,
            pl.col("client").is_null() if client is None else pl.col("client") == client,
        )
        return found.sort("step")["value"].to_list()

    def each(self, label: str, seed: int, name: str) -> list[float]:
        """A figure of every client that has it, in their order."""
        rows = self.rows.filter(pl.col("label") == label, pl.col("seed") == seed, pl.col("name") == name)
        return rows.drop_nulls("client").sort("client")["value"].to_list()

    def each_of(self, seed: int, name: str) -> list[float]:
        """A figure of every client that is the same in all rows of a seed, from the first row that has it."""
        return next((found for label in self.labels if (found := self.each(label, seed, name))), [])

    def fused(self, label: str, servers: Sequence[Server]) -> list[list[float]]:
        """The accuracy of other servers on the same clients: for each server, of every seed."""
        assert self.store is not None
        found = []
        for seed in self.seeds:
            fused = fuse(self.store, read.find_run(self.store, self.runs[label, seed]), servers)
            found.append([metrics.final_metrics(self.store, one)["accuracy/merged"] for one in fused])
        return [list(values) for values in zip(*found, strict=True)]

    def clients(self, label: str, seed: int, name: str = "lam") -> list[int]:
        found = self.rows.filter(pl.col("label") == label, pl.col("seed") == seed, pl.col("name") == name)
        return sorted(found["client"].drop_nulls().unique().to_list())


def load(store: Store, *names: str) -> Study:
    """One study of one sweep or of several."""
    rows, runs = [], {}
    for label, run_id in (member for name in names for member in read.members(store, name)):
        run = read.find_run(store, run_id)
        runs[label, run.seed] = run_id
        rows += [(label, run.seed, r.step, r.client, r.name, r.value) for r in metrics.rows(store, run_id)]
    if not runs:
        raise SystemExit(f"the store has no finished sweep '{names[0]}'")
    return Study(names[0], pl.DataFrame(rows, schema=SCHEMA, orient="row"), runs, store)


def percent(values: list[float]) -> str:
    """35.4 ± 2.1, in points; the deviation is that between seeds."""
    points = [100 * value for value in values]
    return f"{fmean(points):.1f} ± {stdev(points):.1f}" if len(points) > 1 else f"{points[0]:.1f}"


def spread(values: list[float]) -> str:
    """0.158 ± 0.004, for figures that are read as shares."""
    return f"{fmean(values):.3f} ± {stdev(values):.3f}" if len(values) > 1 else f"{values[0]:.3f}"
