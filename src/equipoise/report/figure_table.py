"""A figure as a Markdown table: one row per checkpoint, client, bar, group or method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from equipoise.report.figure import BarChart, BoxChart, Figure, Heatmap, LineChart, RankChart, ScatterChart, thinned
from equipoise.report.words import Say

MOST_ROWS = 12
"""A longer run is shown by this many evenly spaced checkpoints."""


def markdown_of(figure: Figure, say: Say) -> str:
    """A figure as a heading, its caption and a table."""
    caption = f"{say(f'caption.{figure.key}')} {figure.note}".strip()
    return f"### {say(f'figure.{figure.key}')}\n\n{caption}\n\n{markdown_table(*_rows(figure, say))}"


def _rows(figure: Figure, say: Say) -> tuple[list[str], list[list[str]]]:
    match figure:
        case LineChart():
            steps = sorted({step for line in figure.lines for step in line.steps})
            shown = [steps[i] for i in thinned(len(steps), MOST_ROWS)]
            values = [dict(zip(line.steps, line.values, strict=True)) for line in figure.lines]
            rows = [[f"**{step}**", *(_number(at.get(step), figure.is_share) for at in values)] for step in shown]
            levels = [
                [name, *[_number(level, figure.is_share)] * len(values)]
                for name, level in figure.bounds.items()
                if level
            ]
            return [figure.x or say("step"), *(line.name for line in figure.lines)], [*rows, *levels]
        case Heatmap():
            kept = thinned(len(figure.columns), MOST_ROWS)
            rows = [
                [f"**{name}**", *(_number(figure.values[r, c], figure.is_share) for c in kept)]
                for r, name in enumerate(figure.rows)
            ]
            return [f"{figure.y} \\ {figure.x}", *(figure.columns[c] for c in kept)], rows
        case BarChart():
            bars: Mapping[str, float] = {**figure.bars, **figure.bounds}
            return [figure.x, figure.y], [[name, _number(value, figure.is_share)] for name, value in bars.items()]
        case ScatterChart():
            return [figure.group, "n", "x", "y"], _centres(figure)
        case RankChart():
            return _ranks(figure, say)
        case BoxChart():
            return _boxes(figure, say)


def _centres(figure: ScatterChart) -> list[list[str]]:
    """The centre of each group of points."""
    rows = []
    for name in sorted(dict.fromkeys(figure.groups), key=lambda group: (len(group), group)):
        own = figure.places[[group == name for group in figure.groups]]
        x, y = own.mean(axis=0)
        rows.append([name, str(len(own)), _number(x, False), _number(y, False)])
    return rows


def _ranks(figure: RankChart, say: Say) -> tuple[list[str], list[list[str]]]:
    """Methods by mean rank; a letter per group of methods that are not apart."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    of = {
        name: "".join(letters[i % len(letters)] for i, group in enumerate(figure.groups) if name in group)
        for name in figure.ranks
    }
    return ["", figure.x, say("alike")], [[name, f"{rank:.2f}", of[name]] for name, rank in figure.ranks.items()]


def _boxes(figure: BoxChart, say: Say) -> tuple[list[str], list[list[str]]]:
    rows = [
        [name, str(len(values)), *(_number(q, figure.is_share) for q in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))]
        for name, values in figure.values.items()
    ]
    ends = ("lowest_value", "quarter", "middle_value", "three_quarters", "highest_value")
    return ["", "n", *map(say, ends)], rows


def _number(value: float | None, is_share: bool) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:.2f} %" if is_share else f"{value:.4g}"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = [list(header), ["---"] * len(header), *map(list, rows)]
    return "\n".join("| " + " | ".join(map(plain, row)) + " |" for row in body) + "\n"


def plain(text: str) -> str:
    """Escapes text for a label or cell; line breaks are kept."""
    return escape(text, quote=False).replace("|", "\\|").replace("\n", "<br>")
