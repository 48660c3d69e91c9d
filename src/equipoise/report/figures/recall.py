"""Recall of the merged model by class, over the checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.report.figure import Heatmap, thinned
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

MOST_COLUMNS, MOST_ROWS = 40, 100


def recall(source: FigureSource, say: Say) -> Iterator[Heatmap]:
    run = source.recording
    classes = sorted((name.removeprefix("recall/") for name in run.names("recall/*")), key=lambda c: (len(c), c))
    if not classes:
        return
    rows = [classes[i] for i in thinned(len(classes), MOST_ROWS)]
    steps = run.server(f"recall/{classes[0]}").steps
    steps = steps[thinned(len(steps), MOST_COLUMNS)]
    values = np.array([[run.server(f"recall/{c}").at(int(step)) for step in steps] for c in rows])
    columns = [str(step + 1) for step in steps]
    yield Heatmap(
        key="recall", x=say("step"), y=say("class"), columns=columns, rows=rows, values=values,
        measure=say("share"), is_share=True,
    )  # fmt: skip
