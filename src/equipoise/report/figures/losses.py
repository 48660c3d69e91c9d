"""Every term of the loss over the checkpoints, as a mean over clients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.report.figure import Lines
from equipoise.report.figures.curves import line
from equipoise.report.source import Source
from equipoise.report.words import Say

WIDE = 30.0
"""Terms further apart than this are drawn on a logarithmic axis."""


def losses(source: Source, say: Say) -> Iterator[Lines]:
    run = source.recording
    curves = {name.removeprefix("loss/"): run.mean(name) for name in run.names("loss/*") if run.clients(name)}
    if curves:
        values = np.concatenate([curve.values for curve in curves.values()])
        is_wide = bool(values.min() > 0 and values.max() > WIDE * values.min())
        lines = [line(name, curve) for name, curve in curves.items()]
        yield Lines(key="losses", y=say("loss"), lines=lines, is_log=is_wide)
