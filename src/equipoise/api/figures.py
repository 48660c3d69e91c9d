"""The report's figures of one run, as Altair charts: the same definitions, with their titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from equipoise.core.errors import Problem, UnknownName
from equipoise.core.registry import suggestion

if TYPE_CHECKING:
    from equipoise.api.handle import RunHandle
    from equipoise.report.figure import Figure
    from equipoise.report.palette import Chart

Picture: TypeAlias = "Chart"


def figures(run: RunHandle, language: str) -> dict[str, Figure]:
    """The figures for which the run recorded enough, by name, as data."""
    from equipoise.diagnose.stored import stored
    from equipoise.report.figures import figures as drawn
    from equipoise.report.source import source
    from equipoise.report.words import words

    with run.opened() as store:
        record = run.record
        return {each.key: each for each in drawn(source(store, record, stored(store, record)), words(language))}


def figure(run: RunHandle, name: str, language: str) -> Picture:
    """One of them, drawn."""
    from equipoise.report.draw import draw
    from equipoise.report.words import words

    known, say = figures(run, language), words(language)
    if name not in known:
        raise UnknownName([Problem("figure", f"run '{run.id}' has no figure '{name}'{suggestion(name, list(known))}")])
    chart: Picture = draw(known[name], say).properties(title=say(f"figure.{known[name].key}"))
    return chart
