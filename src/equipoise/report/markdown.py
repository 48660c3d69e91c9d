"""Renders a report as Markdown. Charts become tables with one row per checkpoint."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from equipoise import __version__
from equipoise.diagnose.words import evidence, healing, labels
from equipoise.report import table
from equipoise.report.card import CardEntry
from equipoise.report.figure import BarChart, Figure, Heatmap, LineChart, ScatterChart, thinned
from equipoise.report.gather import Configuration, GroupedFinding, Report
from equipoise.report.layout import results
from equipoise.report.words import Say, words

MOST_ROWS = 12
"""A longer run is shown by this many evenly spaced checkpoints."""


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    say = words(report.language)
    yield f"# {say('title', what=report.what)}\n"
    first = report.first
    summary = (
        say("sick", sick=len(report.sick), n=report.n_runs, first=first.code)
        if first
        else say("healthy", n=report.n_runs)
    )
    yield f"{summary}\n"
    yield from _results(report, say)
    yield from _search(report, say)
    if any(each.findings for each in report.configurations):
        yield f"## {say('findings')}\n"
    for each in report.configurations:
        if each.findings:
            yield from _findings(each, report.language)
    yield f"## {say('protocol')}\n"
    yield _table(["", ""], [[entry.name, _entry_lines(entry)] for entry in report.card if not entry.is_command])
    yield from (_commands(entry) for entry in report.card if entry.is_command)
    for figure in report.pictures[1:]:
        yield markdown_of(figure, say)
    for each in report.configurations:
        yield from _detail(each, say)
    yield say("made", version=__version__, n=report.n_runs)


def _detail(each: Configuration, say: Say) -> Iterator[str]:
    yield f"## {_plain(each.label)}\n"
    yield f"{say('detail_of', run=each.drawn.run_id, seed=each.drawn.seed)}\n"
    if each.ranked:
        yield _table(each.ranked.header, each.ranked.rows)
        yield f"{each.ranked.floor}\n"
    for figure in each.figures:
        yield markdown_of(figure, say)
    yield from _unexamined(each, say)


def _results(report: Report, say: Say) -> Iterator[str]:
    """The table of results and the first figure."""
    if report.comparison:
        found = results(report.comparison)
        yield f"## {say('results')}\n"
        cells = [[f"**{cell.text}**" if cell.is_bold else cell.text for cell in row] for row in found.rows]
        yield _table([say(f"column_{name}") for name in found.columns], cells)
        yield f"{report.note}\n"
        yield from (f"{remark}\n" for remark in table.remarks(report.comparison, report.language))
    for figure in report.pictures[:1]:
        yield markdown_of(figure, say)


def _search(report: Report, say: Say) -> Iterator[str]:
    if report.search is None:
        return
    yield f"## {say('search')}\n"
    yield from (f"{_plain(sentence)}\n" for sentence in report.search.sentences)
    yield _table(report.search.header, report.search.rows)
    for figure in report.search.figures:
        yield markdown_of(figure, say)


def _entry_lines(entry: CardEntry) -> str:
    return "\n".join(f"{whom}: {what}" if whom else what for whom, what in entry.lines)


def _commands(entry: CardEntry) -> str:
    """Commands as a code block to copy from; a table would escape them."""
    lines = [f"# {whom}\n{what}" if whom else what for whom, what in entry.lines]
    return "\n".join([f"{entry.name}:\n", "```sh", *lines, "```", ""])


def _findings(each: Configuration, language: str) -> Iterator[str]:
    yield f"### {_plain(each.label)}\n"
    for grouped in each.findings:
        yield from _finding(grouped, len(each.runs), language)


def _finding(grouped: GroupedFinding, of: int, language: str) -> Iterator[str]:
    say, label, found = words(language), labels(language), grouped.finding
    because = f" ({label['follows'].format(codes=', '.join(found.because))})" if found.because else ""
    yield f"**{label[found.severity]} {found.code}**{because}: {found.saw}\n"
    if found.healed:
        yield f"- {healing(found.healed, label)}"
    yield f"- {label['why']}: {found.cause}"
    yield f"- {label['try']}: {found.remedy}" + (f" `{found.override}`" if found.override else "")
    if of > 1:
        yield f"- {say('runs')}: {say('in_runs', n=len(grouped.runs), of=of, runs=', '.join(grouped.runs))}"
    yield from (f"- {evidence(row, label)}" for row in found.evidence[:3])
    yield ""


def _unexamined(each: Configuration, say: Say) -> Iterator[str]:
    missing = each.verdict.not_examined
    if missing:
        yield f"{say('not_examined')}:\n"
        yield _table([say("rule"), say("missing")], [[code, ", ".join(what)] for code, what in missing.items()])
    if each.verdict.passed:
        yield f"{say('passed')}: {', '.join(each.verdict.passed)}\n"


def markdown_of(figure: Figure, say: Say) -> str:
    """A figure as a heading, its caption and a table."""
    caption = f"{say(f'caption.{figure.key}')} {figure.note}".strip()
    return f"### {say(f'figure.{figure.key}')}\n\n{caption}\n\n{_table(*_rows(figure, say))}"


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


def _centres(figure: ScatterChart) -> list[list[str]]:
    """The centre of each group of points."""
    rows = []
    for name in sorted(dict.fromkeys(figure.groups), key=lambda group: (len(group), group)):
        own = figure.places[[group == name for group in figure.groups]]
        x, y = own.mean(axis=0)
        rows.append([name, str(len(own)), _number(x, False), _number(y, False)])
    return rows


def _number(value: float | None, is_share: bool) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:.2f} %" if is_share else f"{value:.4g}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = [list(header), ["---"] * len(header), *map(list, rows)]
    return "\n".join("| " + " | ".join(map(_plain, row)) + " |" for row in body) + "\n"


def _plain(text: str) -> str:
    """Escapes text for a label or cell; line breaks are kept."""
    return escape(text, quote=False).replace("|", "\\|").replace("\n", "<br>")
