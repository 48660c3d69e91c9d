"""Final prototypes compared with the anchors, and between clients.

cosine[c, a] = cos(merged prototype of class c, anchor a)
spread[c]    = √(Σ_d var_k p̂_kcd)        p̂ = prototype of client k at length 1
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.core.values import Floats
from equipoise.report.figure import BarChart, Figure, Heatmap
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

MOST_CLASSES = 100


def geometry(source: FigureSource, say: Say) -> Iterator[Figure]:
    kept = source.pictures
    if not {"prototypes", "anchors"} <= kept.keys():
        return
    classes = [str(c) for c in range(len(kept["prototypes"]))][:MOST_CLASSES]
    cosines = unit(kept["prototypes"]) @ unit(kept["anchors"]).T
    yield Heatmap(
        key="anchors", x=say("anchor"), y=say("prototype"), columns=classes, rows=classes,
        values=cosines[:MOST_CLASSES, :MOST_CLASSES], measure=say("cosine"), scale="cosine",
    )  # fmt: skip
    own = [unit(array) for name, array in sorted(kept.items()) if name.startswith("prototypes/")]
    if len(own) > 1:
        spread = np.sqrt(np.stack(own).var(axis=0).sum(axis=1))
        bars = dict(zip(classes, spread.tolist(), strict=False))
        yield BarChart(key="spread", x=say("class"), y=say("deviation"), bars=bars)


def unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return found
