"""λ as used in training, with its schedule, its bound and the cap predicted by the first losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equipoise.diagnose.recording import Curve
from equipoise.report.figure import ChartLine, LineChart
from equipoise.report.figures.curves import OWN_LINES, client_places, extremes, line, middle
from equipoise.report.palette import GREY
from equipoise.report.source import FigureSource
from equipoise.report.words import Say


def lam(source: FigureSource, say: Say) -> Iterator[LineChart]:
    run = source.recording
    used = [curve for curve in run.clients("lam/used") if (curve.values > 0).any()]
    if not used:
        return
    schedule = run.mean("schedule")
    moves = len(schedule) and np.ptp(schedule.values) > 0
    dashed = replace(line(say("schedule"), schedule, is_dashed=True), place=GREY)
    lines = [*_lines(used, say), *([dashed] if moves else [])]
    known = {key: run.facts.get(key) for key in ("cap", "lam_max")}
    bounds = {say(key): float(value) for key, value in known.items() if value}
    notes = [_note(used, say) if len(used) > OWN_LINES else "", say("dashed_schedule") if moves else ""]
    note = say("sentences").join(filter(None, notes))
    yield LineChart(key="lam", y=say("lam_axis"), lines=lines, is_log=True, bounds=bounds, note=note)


def _lines(used: list[Curve], say: Say) -> list[ChartLine]:
    """One line per client; for many clients their median, the lowest and the highest."""
    if len(used) > OWN_LINES:
        ends = extremes((say("lowest"), say("highest")), used)
        return [middle(say("median"), used), *([] if _is_constant(used) else ends)]
    places = client_places([curve.client or 0 for curve in used])
    return [
        replace(line(say("client_n", client=curve.client), curve), place=place)
        for curve, place in zip(used, places, strict=True)
    ]


def _note(used: list[Curve], say: Say) -> str:
    return say("all_alike" if _is_constant(used) else "middle_of", n=len(used))


def _is_constant(used: list[Curve]) -> bool:
    return bool(np.ptp(np.concatenate([curve.values for curve in used])) == 0)
