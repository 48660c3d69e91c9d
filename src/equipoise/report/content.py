"""The content of a report as values; `html` and `markdown` render it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from equipoise.diagnose.finding import SEVERITIES, Finding, Verdict
from equipoise.report import table
from equipoise.report.card import CardEntry
from equipoise.report.comparison import Comparison
from equipoise.report.figure import Figure
from equipoise.report.rankings import Rankings
from equipoise.report.search_section import SearchSection
from equipoise.report.words import words
from equipoise.store.records import RecordedEvent, Run


@dataclass(frozen=True)
class GroupedFinding:
    """A finding shared by several runs of a configuration, in the words of the first of them."""

    finding: Finding
    runs: Sequence[str]


@dataclass(frozen=True)
class Configuration:
    """Runs that differ only in their seed; in a sweep, all runs of a method.

    Figures show one of them: the run with the most severe findings. A sweep has figures of methods instead."""

    label: str
    runs: Sequence[Run]
    findings: Sequence[GroupedFinding]
    verdict: Verdict
    drawn: Run
    ranked: Rankings | None = None
    figures: Sequence[Figure] = ()
    events: Sequence[RecordedEvent] = ()

    @property
    def severity(self) -> str:
        """Severity of the most severe finding; empty if none is above a note."""
        found = {each.finding.severity for each in self.findings} - {"note"}
        return max(found, key=SEVERITIES.index, default="")


@dataclass(frozen=True)
class ListedRun:
    """A run of a sweep's report: where it belongs, how it went, and the command that opens its own report."""

    row: int
    """Index of its row in the table of results."""
    label: str
    run: Run
    value: str

    @property
    def command(self) -> str:
        return f"equipoise report {self.run.run_id} -o {self.run.run_id}.html"


@dataclass(frozen=True, kw_only=True)
class Report:
    language: str
    what: str
    sentence: str
    """What the runs show, for a paper to quote."""
    card: Sequence[CardEntry]
    comparison: Comparison | None
    top: Sequence[Figure]
    """The pictures that matter most for these runs, at most three."""
    pictures: Sequence[Figure]
    """The other pictures of all configurations together."""
    configurations: Sequence[Configuration]
    remarks: Sequence[str] = ()
    """What the pictures cannot show, and why."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Index in the palette, by row of the table and by configuration."""
    listed: Sequence[ListedRun] = ()
    """The runs of a sweep, whose own pages are not repeated."""
    search: SearchSection | None = None
    """How the settings were found, if a search found them."""

    @property
    def is_sweep(self) -> bool:
        return bool(self.listed)

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
        return sick(self.configurations)

    @property
    def first(self) -> Finding | None:
        """The finding to read first: the first one of the worst configuration."""
        return first(self.configurations)


def sick(configurations: Sequence[Configuration]) -> list[str]:
    """Runs with a finding above a note."""
    every = [grouped for each in configurations for grouped in each.findings]
    return sorted({run for grouped in every if grouped.finding.severity != "note" for run in grouped.runs})


def first(configurations: Sequence[Configuration]) -> Finding | None:
    """The first finding of the configuration with the most severe one; None if no finding is above a note."""
    severe = [each for each in configurations if each.severity]
    worst = max(severe, key=lambda each: SEVERITIES.index(each.severity), default=None)
    return worst.findings[0].finding if worst else None
