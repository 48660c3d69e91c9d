"""Renders a report as Markdown. Charts become tables with one row per checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise import __version__
from equipoise.diagnose.words import evidence, healing, labels
from equipoise.report import table
from equipoise.report.card import CardEntry
from equipoise.report.content import Configuration, GroupedFinding, Report
from equipoise.report.figure_table import markdown_of, markdown_table, plain
from equipoise.report.finding_counts import counted
from equipoise.report.layout import results
from equipoise.report.words import Say, words


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    say = words(report.language)
    yield f"# {say('title', what=report.what)}\n"
    yield f"{plain(report.sentence)}\n"
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
    if report.is_sweep:
        yield _counts(report, say)
    for each in report.configurations:
        if each.findings:
            yield from _findings(each, report.language)
    yield f"## {say('protocol')}\n"
    yield markdown_table(["", ""], [[entry.name, _entry_lines(entry)] for entry in report.card if not entry.is_command])
    yield from (_commands(entry) for entry in report.card if entry.is_command)
    for figure in report.pictures:
        yield markdown_of(figure, say)
    yield from (
        _runs(report, say)
        if report.is_sweep
        else (line for each in report.configurations for line in _detail(each, say))
    )
    yield say("made", version=__version__, n=report.n_runs)


def _detail(each: Configuration, say: Say) -> Iterator[str]:
    yield f"## {plain(each.label)}\n"
    yield f"{say('detail_of', run=each.drawn.run_id, seed=each.drawn.seed)}\n"
    if each.ranked:
        yield markdown_table(each.ranked.header, each.ranked.rows)
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
        yield markdown_table([say(f"column_{name}") for name in found.columns], cells)
        yield f"{report.note}\n"
        yield from (f"{remark}\n" for remark in table.remarks(report.comparison, report.language))
    for figure in report.top:
        yield markdown_of(figure, say)
    yield from (f"{remark}\n" for remark in report.remarks)


def _counts(report: Report, say: Say) -> str:
    """Findings down, methods across."""
    sizes = [len(each.runs) for each in report.configurations]
    rows = [
        [f"{say(row.finding.severity)} {row.finding.code}"]
        + [f"{n} / {of}" if n else "–" for n, of in zip(row.counts, sizes, strict=True)]
        for row in counted(report.configurations)
    ]
    return markdown_table([say("finding"), *(each.label for each in report.configurations)], rows) if rows else ""


def _runs(report: Report, say: Say) -> Iterator[str]:
    """The runs of a sweep, with the command that writes the report of each."""
    yield f"## {say('single_runs')} ({len(report.listed)})\n"
    header = [say(name) for name in ("column_configuration", "seed", "runs", "status", "column_final", "opens")]
    yield markdown_table(
        header,
        [
            [each.label, str(each.run.seed), each.run.run_id, say(each.run.status), each.value, f"`{each.command}`"]
            for each in report.listed
        ],
    )


def _search(report: Report, say: Say) -> Iterator[str]:
    if report.search is None:
        return
    yield f"## {say('search')}\n"
    yield from (f"{plain(sentence)}\n" for sentence in report.search.sentences)
    yield markdown_table(report.search.header, report.search.rows)
    for figure in report.search.figures:
        yield markdown_of(figure, say)


def _entry_lines(entry: CardEntry) -> str:
    return "\n".join(f"{whom}: {what}" if whom else what for whom, what in entry.lines)


def _commands(entry: CardEntry) -> str:
    """Commands as a code block to copy from; a table would escape them."""
    lines = [f"# {whom}\n{what}" if whom else what for whom, what in entry.lines]
    return "\n".join([f"{entry.name}:\n", "```sh", *lines, "```", ""])


def _findings(each: Configuration, language: str) -> Iterator[str]:
    yield f"### {plain(each.label)}\n"
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
        yield markdown_table([say("rule"), say("missing")], [[code, ", ".join(what)] for code, what in missing.items()])
    if each.verdict.passed:
        yield f"{say('passed')}: {', '.join(each.verdict.passed)}\n"
