"""The input of a run's figures: the run, its numbers, its partition and the arrays kept for pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from equipoise.diagnose.recording import Recording
from equipoise.store import blobs, read
from equipoise.store.records import PartitionRecord, Run
from equipoise.store.transact import Store

PICTURES = "pictures"
Projection: TypeAlias = Literal["pca", "tsne"]


@dataclass(frozen=True)
class FigureSource:
    run: Run
    recording: Recording
    partition: PartitionRecord | None
    pictures: Mapping[str, NDArray[Any]]
    """labels [N], features/<client> [N, D], prototypes/<client>, prototypes, anchors [C, D]; empty if none kept."""
    projection: Projection = "pca"
    """How features are projected onto a plane."""


def source(store: Store, run: Run, recorded: Recording, projection: Projection = "pca") -> FigureSource:
    partition = read.partition(store, run.partition) if run.partition else None
    return FigureSource(run, recorded.finite(), partition, _pictures(store, run), projection)


def _pictures(store: Store, run: Run) -> dict[str, NDArray[Any]]:
    newest = read.checkpoints(store, run.run_id)[:1]
    digests = [at.manifest[PICTURES] for at in newest if PICTURES in at.manifest]
    kept = load(blobs.get(store, digests[0])) if digests else {}
    wide = {name: array.astype(np.float64) if array.dtype.kind == "f" else array for name, array in kept.items()}
    return {name: array for name, array in wide.items() if np.isfinite(array).all()}  # a diverged client has no picture
