"""Gathers the content of a report from the store: findings, protocol, results and figures; `html` renders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from equipoise.diagnose.examine import examine
from equipoise.diagnose.finding import SEVERITIES, Finding, Verdict
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.stored import stored
from equipoise.report import table
from equipoise.report.card import CardEntry, card
from equipoise.report.comparison import Comparison, compare
from equipoise.report.figure import Figure
from equipoise.report.figures import figures
from equipoise.report.overview import RunCurves, foremost, overview
from equipoise.report.rankings import Rankings, rankings
from equipoise.report.runs import compared, curve
from equipoise.report.search_section import SearchSection, search_section
from equipoise.report.source import Projection, source
from equipoise.report.stream import is_stream
from equipoise.report.words import Say, words
from equipoise.store import read
from equipoise.store.metrics import final_metrics
from equipoise.store.records import RecordedEvent, Run
from equipoise.store.transact import Store
from equipoise.store.validation import validation_metric


@dataclass(frozen=True)
class GroupedFinding:
    """A finding shared by several runs of a configuration, in the words of the first of them."""

    finding: Finding
    runs: Sequence[str]


@dataclass(frozen=True)
class Configuration:
    """Runs that differ only in their seed. Figures show one of them: the run with the most severe findings."""

    label: str
    runs: Sequence[Run]
    findings: Sequence[GroupedFinding]
    verdict: Verdict
    drawn: Run
    ranked: Rankings | None
    figures: Sequence[Figure]
    events: Sequence[RecordedEvent]

    @property
    def severity(self) -> str:
        """Severity of the most severe finding; empty if none is above a note."""
        found = {each.finding.severity for each in self.findings} - {"note"}
        return max(found, key=SEVERITIES.index, default="")


@dataclass(frozen=True)
class Report:
    language: str
    what: str
    card: Sequence[CardEntry]
    comparison: Comparison | None
    pictures: Sequence[Figure]
    """Figures of all configurations together; the first stands above the findings."""
    configurations: Sequence[Configuration]
    search: SearchSection | None = None
    """How the settings were found, if a search found them."""

    @property
    def note(self) -> str:
        """How to read the table of results; mentions only what the table contains."""
        assert self.comparison is not None
        say, lines = words(self.language), self.comparison.lines
        over = " / ".join(say(f"over.{kind}") for kind in table.paired_over(self.comparison))
        figures = "seeds_note" if any(line.final.n > 1 for line in lines) else "per_cent_note"
        parts = [
            say(figures, metrics=table.metrics(self.comparison)),
            say("results_note"),
            say("delta_note", over=over) if any(line.difference for line in lines) else "",
            say("bold_note") if any(line.leads for line in lines) else "",
        ]
        return say("sentences").join(filter(None, parts))

    @property
    def n_runs(self) -> int:
        return sum(len(each.runs) for each in self.configurations)

    @property
    def sick(self) -> list[str]:
        """Runs with a finding above a note."""
        severe = [
            grouped for each in self.configurations for grouped in each.findings if grouped.finding.severity != "note"
        ]
        return sorted({run for grouped in severe for run in grouped.runs})

    @property
    def first(self) -> Finding | None:
        """The finding to read first: the first one of the worst configuration."""
        severe = [each for each in self.configurations if each.severity]
        worst = max(severe, key=lambda each: SEVERITIES.index(each.severity), default=None)
        return worst.findings[0].finding if worst else None


@dataclass(frozen=True)
class _ExaminedRun:
    """What is kept of a run while the other runs are read."""

    run: Run
    verdict: Verdict
    course: RunCurves


def gather(
    store: Store, runs: Sequence[Run], labels: Mapping[str, str], language: str, projection: Projection = "pca"
) -> Report:
    """Gathers a report; `labels` maps run ids to labels, which a sweep takes from its table."""
    say = words(language)
    seen = {run.run_id: _examined(run, stored(store, run), language) for run in runs}
    scored = [run for run in runs if curve(store, run).values]
    comparison = compare(compared(store, scored, labels), language) if scored else None
    groups = {line.label: list(line.runs) for line in comparison.lines} if comparison else {}
    for run in runs:
        if run not in scored:  # a failed seed joins the other seeds of its row
            groups.setdefault(labels.get(run.run_id, run.run_id), []).append(run.run_id)
    by_label = {label: [seen[run_id] for run_id in ids] for label, ids in groups.items()}
    configurations = [_configuration(store, label, group, say, projection) for label, group in by_label.items()]
    pictures, configurations = _pictures(by_label, configurations, say)
    return Report(
        language=language,
        what=_named(runs),
        card=card(store, {each.label: each.runs for each in configurations}, say),
        comparison=comparison,
        pictures=pictures,
        configurations=configurations,
        search=search_section(store, runs, say),
    )


def _pictures(
    by_label: Mapping[str, Sequence[_ExaminedRun]], configurations: list[Configuration], say: Say
) -> tuple[Sequence[Figure], list[Configuration]]:
    """Figures above the details. A single run moves one of its own figures there."""
    if sum(map(len, by_label.values())) > 1:
        courses = {label: [seen.course for seen in group] for label, group in by_label.items()}
        return overview(courses, say), configurations
    (single,) = configurations
    first = foremost(single.figures)
    rest = [figure for figure in single.figures if figure is not first]
    return [first] if first else [], [replace(single, figures=rest)]


def _named(runs: Sequence[Run]) -> str:
    """The name of the sweep that contains all runs, or the names of the runs."""
    sweeps = {run.sweep for run in runs}
    names = [sweeps.pop()] if len(sweeps) == 1 and len(runs) > 1 else []
    return ", ".join(name for name in names if name) or ", ".join(dict.fromkeys(run.name for run in runs))


def _examined(run: Run, recorded: Recording, language: str) -> _ExaminedRun:
    tested = recorded.server(run.headline).finite()
    headline = tested if len(tested) > 1 else recorded.server(validation_metric(run)).finite()
    course = RunCurves(run.headline, headline, recorded.mean("lam/used"))
    return _ExaminedRun(run, examine(recorded, run.config.get("limits"), language), course)


def _configuration(
    store: Store, label: str, group: Sequence[_ExaminedRun], say: Say, projection: Projection
) -> Configuration:
    drawn = max(group, key=_badness)
    return Configuration(
        label=label,
        runs=[seen.run for seen in group],
        findings=_grouped(group),
        verdict=drawn.verdict,
        drawn=drawn.run,
        ranked=rankings(final_metrics(store, drawn.run.run_id), is_stream(drawn.run), say),
        figures=figures(source(store, drawn.run, stored(store, drawn.run), projection), say),
        events=read.events(store, drawn.run.run_id),
    )


def _badness(seen: _ExaminedRun) -> tuple[int, int]:
    """Sort key: the most severe finding; on ties the smaller seed."""
    worst = max((SEVERITIES.index(each.severity) for each in seen.verdict.findings), default=-1)
    return worst, -seen.run.seed


def _grouped(group: Sequence[_ExaminedRun]) -> list[GroupedFinding]:
    """Each finding once, in the order of the worst run."""
    order = sorted(group, key=_badness, reverse=True)
    codes = dict.fromkeys(each.code for seen in order for each in seen.verdict.findings)
    made = {
        code: [(s.run.run_id, each) for s in order for each in s.verdict.findings if each.code == code]
        for code in codes
    }
    return [GroupedFinding(found[0][1], [run_id for run_id, _ in found]) for found in made.values()]
