"""How hard each term pulls, and whether base and alignment pull together."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.report.figure import Bars, Figure, Lines
from equipoise.report.figures.curves import line, middle
from equipoise.report.source import Source
from equipoise.report.words import Say

ROUNDING = 1e-9
"""A term that pulls less than this share of the strongest does not pull."""


def gradients(source: Source, say: Say) -> Iterator[Figure]:
    run = source.recording
    norms = {name.removeprefix("grad/norm/"): run.mean(name) for name in run.names("grad/norm/*")}
    most = max((curve.values.max() for curve in norms.values()), default=0.0)
    seen = {name: curve for name, curve in norms.items() if curve.values.max() > ROUNDING * most}
    if not seen:
        return
    if max(len(curve) for curve in seen.values()) == 1:
        bars = {name: float(curve.values[0]) for name, curve in seen.items()}
        yield Bars(key="gradients", x="", y=say("norm"), bars=bars)
        return
    yield Lines(key="gradients", y=say("norm"), lines=[line(*each) for each in seen.items()], is_log=True)
    if cosines := run.clients("grad/cosine"):
        yield Lines(key="conflict", y=say("cosine"), lines=[middle(say("median"), cosines)], bounds={"0": 0.0})
