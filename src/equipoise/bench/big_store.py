"""A store with one large run, written at once: 1 000 clients × 1 000 checkpoints of what clients record."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from equipoise.config.loader import load
from equipoise.store.database import open_store
from equipoise.store.records import NewRun
from equipoise.store.transact import writing
from equipoise.store.write import create_run, finish

CLIENTS, STEPS, BIG_RUN = 1000, 1000, "big-000001"
MAPPED = ("accuracy/test", "loss/base", "update/norm", "update/cosine", "lam/used")
SERVER = ("accuracy/merged", "accuracy/validation", "bytes/up", "bytes/down")


def fill(path: Path, clients: int = CLIENTS, steps: int = STEPS) -> None:
    """Numbers are drawn; only their amount matters here."""
    config = load("fedavg", [f"rounds={steps}", f"partition.clients={clients}"]).config
    new = NewRun(
        run_id=BIG_RUN,
        name="big",
        method="fedavg",
        seed=0,
        config=config.model_dump(),
        config_hash=config.fingerprint(),
        headline="accuracy/merged",
        version="0",
        environment={"tested": 10_000, "predict": "parameter-average"},
    )
    draw = np.random.default_rng(0)
    insert = "INSERT INTO metrics (run_id, step, round, client, name, value) VALUES (?, ?, ?, ?, ?, ?)"
    with open_store(str(path)) as store:
        create_run(store, new)
        with writing(store) as connection:
            cursor = connection.connection.cursor()
            owners: list[int | None] = [None, *range(clients)]
            for name, step in itertools.product((*SERVER, *MAPPED), range(steps)):
                of = owners[:1] if name in SERVER else owners[1:]
                values = draw.random(len(of)).tolist()
                rows = [(BIG_RUN, step, step, owner, name, value) for owner, value in zip(of, values, strict=True)]
                cursor.executemany(insert, rows)
            cursor.executemany(
                "INSERT INTO checkpoints (run_id, step, manifest, time) VALUES (?, ?, ?, ?)",
                [(BIG_RUN, steps - 1, "{}", "2026-01-01T00:00:00+00:00")],
            )
            cursor.close()
        finish(store, BIG_RUN, "done")
