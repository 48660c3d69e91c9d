"""One map: a metric of every client at every checkpoint, as numbers that the page colours."""

from __future__ import annotations

import base64

import numpy as np
from pydantic import BaseModel, Field

from equipoise.dashboard.view import Dashboard
from equipoise.report.figure import thinned
from equipoise.store.records import Run

MOST_CLIENTS = 2000
COSINES = ("update/cosine", "grad/cosine")


class MapRange(BaseModel):
    metric: str = Field(max_length=200)
    first: int = Field(0, ge=0)
    last: int | None = Field(None, ge=0)
    columns: int = Field(128, ge=1, le=512)


class MapPage(BaseModel):
    """`values` is float32, little-endian, in base64: one row per client, one number per checkpoint of `steps`."""

    metric: str
    clients: list[int]
    """The clients of the rows; in large federations evenly spaced ones."""
    n_clients: int
    steps: list[int]
    n_steps: int
    """Checkpoints in the range, of which `steps` are shown."""
    low: float | None
    high: float | None
    is_share: bool
    is_cosine: bool
    values: str


def map_page(board: Dashboard, run: Run, wanted: MapRange) -> MapPage:
    found = board.grids.grid(run.run_id, wanted.metric, first=wanted.first, last=wanted.last, most=wanted.columns)
    n_clients = len(found.values)
    rows = thinned(n_clients, MOST_CLIENTS) if n_clients else np.empty(0, dtype=np.int64)
    shown = np.ascontiguousarray(found.values[rows], dtype="<f4")
    finite = shown[np.isfinite(shown)]
    return MapPage(
        metric=wanted.metric,
        clients=rows.tolist(),
        n_clients=n_clients,
        steps=found.steps,
        n_steps=found.n_steps,
        low=float(finite.min()) if finite.size else None,
        high=float(finite.max()) if finite.size else None,
        is_share=wanted.metric.startswith("accuracy/"),
        is_cosine=wanted.metric in COSINES,
        values=base64.b64encode(shown.tobytes()).decode(),
    )
