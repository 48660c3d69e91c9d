"""Stored runs and rows of a sweep, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.methods import SweepRow, sweep_rows
from equipoise.store.records import Run

CONFIG: Mapping[str, Any] = {
    "communication": "rounds",
    "rounds": 6,
    "method": {"name": "fedavg"},
    "balance": {"name": "none"},
    "data": {"name": "digits"},
    "partition": {"name": "dirichlet", "alpha": 0.1},
    "client": {"epochs": 2},
    "server": {"fraction": 1.0},
}


def run_of(run_id: str, seed: int = 0, cell: str | None = None, fingerprint: str | None = "p", **rest: Any) -> Run:
    """A finished run; blocks of the configuration by name, as in `data={"name": "synthetic"}`."""
    config = {**CONFIG, **{key: rest.pop(key) for key in list(rest) if key in CONFIG}}
    known = {
        "name": "run", "method": config["method"]["name"], "config_hash": "", "headline": "accuracy/merged",
        "version": "0", "sweep": "s", "status": "done", "created": "2026-01-01T00:00:00", "updated": "",
        "finished": "2026-01-01T00:01:00", "error": None,
    }  # fmt: skip
    return Run(run_id=run_id, seed=seed, cell=cell, config=config, partition=fingerprint, **{**known, **rest})


def rows_of(*rows: tuple[str, Mapping[str, Any]], seeds: Sequence[int] = (0,)) -> list[SweepRow]:
    """Rows by label and blocks of the configuration; the id of a run is its label and its seed."""
    groups = {
        label: [run_of(f"{label}/{seed}", seed, label, **dict(blocks)) for seed in seeds] for label, blocks in rows
    }
    return sweep_rows(groups, {})
