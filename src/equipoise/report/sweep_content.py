"""The report of a sweep: methods are compared, and the pages of single runs are not repeated.

Findings are grouped by method with counts. Pictures, in this order, the first three above the rest: the headline's
course in the first setting, the critical differences, the spread of clients in the first setting; λ takes the place
before the spread if a finding above a note reads λ; then the same of the other settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from equipoise.diagnose.rule import RULES
from equipoise.report.content import Configuration, ListedRun
from equipoise.report.examined import ExaminedRun, badness, grouped
from equipoise.report.figure import Figure
from equipoise.report.figures.client_spread import client_spread
from equipoise.report.figures.critical_difference import critical_difference, ranked
from equipoise.report.figures.method_curves import method_curves
from equipoise.report.methods import Finals, SweepRow, by_line
from equipoise.report.ranks import Ranking
from equipoise.report.words import Say

Seen = Mapping[str, ExaminedRun]
"""Run id → what is kept of the run."""
LAM = "overview-lam"


@dataclass(frozen=True)
class SweepPictures:
    """Pictures in the order of their importance, the ranking behind one of them, and why it is missing if it is."""

    figures: Sequence[Figure]
    ranking: Ranking | None
    remarks: Sequence[str]


def is_sweep(rows: Sequence[SweepRow], labels: Mapping[str, str]) -> bool:
    """Whether these are two rows or more of one sweep: requested by its label, or all stored under it."""
    runs = [run for row in rows for run in row.runs]
    sweeps = {run.sweep for run in runs}
    return len(rows) > 1 and (all(run.run_id in labels for run in runs) or (len(sweeps) == 1 and None not in sweeps))


def by_method(rows: Sequence[SweepRow], seen: Seen) -> list[Configuration]:
    """One entry per method, with the findings of all its runs; of a single method, one per setting."""
    return [_method(label, group) for label, group in _groups(by_line(rows), seen).items()]


def _method(label: str, group: Sequence[ExaminedRun]) -> Configuration:
    worst = max(group, key=badness)
    return Configuration(label, [each.run for each in group], grouped(group), worst.verdict, worst.run)


def _groups(rows: Sequence[SweepRow], seen: Seen) -> dict[str, list[ExaminedRun]]:
    groups: dict[str, list[ExaminedRun]] = {}
    for row in rows:
        groups.setdefault(row.method, []).extend(seen[run.run_id] for run in row.runs)
    return groups


def places(rows: Sequence[SweepRow]) -> dict[str, int]:
    """Index in the palette of each method, and of each row, which has the colour of its method."""
    lines = by_line(rows)
    of = {method: place for place, method in enumerate(dict.fromkeys(row.method for row in lines))}
    return of | {row.label: of[line.method] for row, line in zip(rows, lines, strict=True)}


def sweep_pictures(rows: Sequence[SweepRow], seen: Seen, finals: Finals, say: Say) -> SweepPictures:
    colours, lines = places(rows), by_line(rows)
    drawn = {
        setting: list(_of_setting([line for line in lines if line.setting == setting], seen, colours, say))
        for setting in dict.fromkeys(line.setting for line in lines)
    }
    found, text = ranked(rows, finals, say)
    ranks: list[Figure] = [critical_difference(found, text, colours, say)] if found else []
    first, *others = drawn.values()
    front = ["overview", *([LAM] if _is_about_lam(seen) else []), "client-spread"]
    ahead = sorted(first, key=lambda figure: front.index(figure.key) if figure.key in front else len(front))
    figures = [*ahead[:1], *ranks, *ahead[1:], *(figure for of in others for figure in of)]
    return SweepPictures(figures, found, [] if found else [text])


def _of_setting(rows: Sequence[SweepRow], seen: Seen, colours: Mapping[str, int], say: Say) -> Iterator[Figure]:
    """The pictures of rows that share a setting."""
    groups, setting = _groups(rows, seen), rows[0].setting
    courses = {label: [each.course for each in group] for label, group in groups.items()}
    note = say("setting", setting=setting) if setting else ""
    yield from method_curves(courses, colours, say, note)
    yield from client_spread(groups, colours, say, note)


def _is_about_lam(seen: Seen) -> bool:
    """Whether a finding above a note was made by a rule that reads λ."""
    known = set(RULES.names())
    severe = {each.code for one in seen.values() for each in one.verdict.findings if each.severity != "note"}
    return any(read.startswith("lam") for code in severe & known for read in RULES.find(code).make.reads)


def listed(rows: Sequence[SweepRow], finals: Finals) -> list[ListedRun]:
    return [
        ListedRun(i, row.label, run, f"{100 * finals[run.run_id]:.2f} %" if run.run_id in finals else "–")
        for i, row in enumerate(rows)
        for run in row.runs
    ]
