"""λ that training used, with its schedule, its bound and the cap that the first losses foretold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.recording import Curve
from equipoise.report.figure import Line, Lines
from equipoise.report.figures.curves import OWN_LINES, line, middle
from equipoise.report.source import Source
from equipoise.report.words import Say


def lam(source: Source, say: Say) -> Iterator[Lines]:
    run = source.recording
    used = [curve for curve in run.clients("lam/used") if (curve.values > 0).any()]
    if not used:
        return
    schedule = run.mean("schedule")
    moves = len(schedule) and np.ptp(schedule.values) > 0
    lines = _lines(used, say) + ([line(say("schedule"), schedule, is_dashed=True)] if moves else [])
    known = {key: run.facts.get(key) for key in ("cap", "lam_max")}
    bounds = {say(key): float(value) for key, value in known.items() if value}
    yield Lines(key="lam", y=say("lam_axis"), lines=lines, is_log=True, bounds=bounds)


def _lines(used: list[Curve], say: Say) -> list[Line]:
    if len(used) <= OWN_LINES:
        return [line(say("client_n", client=curve.client), curve) for curve in used]
    return [middle(say("median"), used)]
