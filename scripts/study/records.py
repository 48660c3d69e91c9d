"""Finished runs of a study, kept beside its page: one line each, so that days of training outlive the machine.

    docs/results/records/<study>.jsonl      label, seed, hash of the configuration, commit, what the page reads
    hits                                    a bit per user, 1 where the test item was among the first ten, as hex

A cell whose configuration has a line is not trained again. A line of a configuration that has changed since counts no
longer; it is dropped when the file is next written.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from scripts.study.page import RESULTS
from scripts.study.read import HIT, SCHEMA, Study

from equipoise.run.grid import Cell
from equipoise.run.placed import placed
from equipoise.store import metrics, read
from equipoise.store.transact import Store

SERVER_ONCE = ("bytes/down", "bytes/up")
"""Known at every round; the last one is enough."""


@dataclass(frozen=True)
class Kept:
    """One finished run."""

    label: str
    seed: int
    config: str
    commit: str
    server: dict[str, list[tuple[int, float]]]
    """Name → (step, value) of every evaluation."""
    clients: dict[str, list[tuple[int, float]]]
    """Name → (client, value) in the last round."""
    hits: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Protocol → number of users, and their bits."""


def load(name: str, cells: Sequence[Cell]) -> dict[str, Kept]:
    """The kept runs of these cells, by the hash of their configuration."""
    path = _path(name)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [Kept(**json.loads(line)) for line in lines]
    wanted = {key_of(cell) for cell in cells}
    return {one.config: one for one in kept if one.config in wanted}


def keep(name: str, cells: Sequence[Cell], store: Store, commit: str, of_clients: Iterable[str]) -> int:
    """Write down every cell that the store has and the records have not, or not with its hits; how many those were."""
    with _alone(name):
        kept = load(name, cells)
        lacking = [cell for cell in cells if (key := key_of(cell)) not in kept or not kept[key].hits]
        finished = [one for cell in lacking if (one := _finished(store, cell, commit, of_clients)) is not None]
        found = {one.config: one for one in finished if one.hits or one.config not in kept}
        if found:
            order = [key_of(cell) for cell in cells]
            lines = sorted({**kept, **found}.values(), key=lambda one: order.index(one.config))
            text = "\n".join(json.dumps(asdict(one), ensure_ascii=False) for one in lines)
            _path(name).write_text(text + "\n", encoding="utf-8")
    return len(found)


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Two studies that end in the same second do not write over each other."""
    _path(name).parent.mkdir(parents=True, exist_ok=True)
    with _path(name).open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def study(name: str, cells: Sequence[Cell]) -> Study:
    """The kept runs as one table, in the order of the cells."""
    kept = load(name, cells)
    rows, runs = [], {}
    for one in (kept[key] for cell in cells if (key := key_of(cell)) in kept):
        runs[one.label, one.seed] = one.config
        rows += [(one.label, one.seed, step, None, key, v) for key, curve in one.server.items() for step, v in curve]
        rows += [(one.label, one.seed, 0, client, key, v) for key, last in one.clients.items() for client, v in last]
        for protocol, (users, bits) in one.hits.items():
            hits = np.unpackbits(np.frombuffer(bytes.fromhex(bits), np.uint8), count=users).astype(float)
            rows += [(one.label, one.seed, 0, user, f"{HIT}/{protocol}", hit) for user, hit in enumerate(hits.tolist())]
    if not runs:
        raise SystemExit(f"no run of '{name}' is recorded in {_path(name)}")
    return Study(name, pl.DataFrame(rows, schema=SCHEMA, orient="row"), runs)


def commits(name: str, cells: Sequence[Cell]) -> list[str]:
    return sorted({one.commit for one in load(name, cells).values()})


def key_of(cell: Cell) -> str:
    """The hash of a cell's configuration on this machine."""
    return placed(cell.config).fingerprint()


def _finished(store: Store, cell: Cell, commit: str, of_clients: Iterable[str]) -> Kept | None:
    runs = [run for run in read.runs(store, config_hash=key_of(cell)) if run.status == "done"]
    if not runs:
        return None
    rows = list(metrics.rows(store, runs[0].run_id))
    server: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row.client is None:
            server.setdefault(row.name, []).append((row.step, _short(row.value)))
    for name in SERVER_ONCE:
        server[name] = server[name][-1:]
    clients: dict[str, list[tuple[int, float]]] = {}
    for name in of_clients:
        told = [(row.step, row.client, row.value) for row in rows if row.client is not None and row.name == name]
        last = max((step for step, _, _ in told), default=None)
        clients[name] = [(client, _short(value)) for step, client, value in told if step == last]
    ranked = sorted({row.name for row in rows if row.name.startswith("rank/")})
    hits = {name.removeprefix("rank/"): _bits(rows, name) for name in ranked}
    return Kept(cell.label, cell.config.seed, key_of(cell), commit, server, clients, hits)


def _bits(rows: Sequence[metrics.Row], name: str) -> tuple[int, str]:
    ranks = {row.client: row.value for row in rows if row.name == name and row.client is not None}
    return len(ranks), np.packbits([ranks[user] <= 10 for user in sorted(ranks)]).tobytes().hex()


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _path(name: str) -> Path:
    return RESULTS / "records" / f"{name}.jsonl"
