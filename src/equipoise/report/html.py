"""Renders a report as one self-contained HTML file with charts, tables, and styles for light, dark and print."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import vl_convert
from jinja2 import Environment
from markupsafe import Markup, escape

from equipoise import __version__
from equipoise.diagnose.words import evidence, healing, labels
from equipoise.report import table
from equipoise.report.content import Report
from equipoise.report.draw import draw
from equipoise.report.figure import Figure
from equipoise.report.finding_counts import counted
from equipoise.report.layout import placed, results
from equipoise.report.palette import colour
from equipoise.report.words import words

SCRIPT = "window.vegaEmbed = vegaEmbed;"


def html(report: Report) -> str:
    say, label = words(report.language), labels(report.language)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["coded"] = _coded
    return environment.from_string(_part("page.html")).render(
        report=report,
        say=say,
        version=__version__,
        results=results(report.comparison) if report.comparison else None,
        remarks=table.remarks(report.comparison, report.language) if report.comparison else [],
        evidence=lambda row: evidence(row, label),
        healing=lambda healed: healing(healed, label),
        placed=placed,
        counts=counted(report.configurations) if report.is_sweep else [],
        colour=colour,
        chart=lambda figure: _json(_spec(figure, report)),
        style=Markup(_part("page.css")),
        script=Markup(_part("page.js")),
        bundle=Markup(vl_convert.javascript_bundle(SCRIPT).replace("</script", "<\\/script")),
    )


def _part(name: str) -> str:
    return files("equipoise.report").joinpath(name).read_text(encoding="utf-8")


def _coded(text: str) -> Markup:
    """Turns `text in backticks` into <code>."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _spec(figure: Figure, report: Report) -> dict[str, Any]:
    """The chart's specification without a width, and without colours for text: the page sets both."""
    spec: dict[str, Any] = draw(figure, words(report.language)).to_dict()
    del spec["width"]
    text = {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    quiet = {"background": None, "font": "sans-serif", "axis": {"gridOpacity": 0.35, **text}, "legend": text}
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}, "config": {**spec["config"], **quiet}}


def _json(value: Mapping[str, Any]) -> Markup:
    """JSON that is safe inside a <script> element."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))
