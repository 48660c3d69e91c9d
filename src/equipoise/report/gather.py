"""Everything a report says, gathered from the store: verdict, protocol, results, pictures. Pages are made from this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from equipoise.diagnose.examine import examine
from equipoise.diagnose.finding import SEVERITIES, Finding, Verdict
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.stored import stored
from equipoise.report import table
from equipoise.report.card import card
from equipoise.report.comparison import Comparison, compare
from equipoise.report.figure import Figure, Line, Lines
from equipoise.report.figures import figures
from equipoise.report.rankings import Rankings, rankings
from equipoise.report.runs import compared, curve, validation_of
from equipoise.report.source import Projection, source
from equipoise.report.stream import is_stream
from equipoise.report.words import Say, words
from equipoise.store import read
from equipoise.store.metrics import final_metrics
from equipoise.store.records import Recorded, Run
from equipoise.store.transact import Store


@dataclass(frozen=True)
class Told:
    """A finding, and in which runs of a configuration it was made; the words are those of the first of them."""

    finding: Finding
    runs: Sequence[str]


@dataclass(frozen=True)
class Configuration:
    """The runs that differ in their seed only; pictures are of one of them, the worst."""

    label: str
    runs: Sequence[Run]
    told: Sequence[Told]
    verdict: Verdict
    drawn: Run
    ranked: Rankings | None
    figures: Sequence[Figure]
    events: Sequence[Recorded]

    @property
    def severity(self) -> str:
        """Of the severest finding; empty where there is none above a note."""
        found = {each.finding.severity for each in self.told} - {"note"}
        return max(found, key=SEVERITIES.index, default="")


@dataclass(frozen=True)
class Report:
    language: str
    what: str
    card: Mapping[str, str]
    comparison: Comparison | None
    overview: Sequence[Figure]
    configurations: Sequence[Configuration]

    @property
    def note(self) -> str:
        """How the results are to be read."""
        assert self.comparison is not None
        say = words(self.language)
        return say("results_note", over=" / ".join(say(f"over.{kind}") for kind in table.paired_over(self.comparison)))

    @property
    def n_runs(self) -> int:
        return sum(len(each.runs) for each in self.configurations)

    @property
    def sick(self) -> list[str]:
        """Runs with a finding above a note."""
        severe = [told for each in self.configurations for told in each.told if told.finding.severity != "note"]
        return sorted({run for told in severe for run in told.runs})

    @property
    def first(self) -> Finding | None:
        """What to read before anything else: the first finding of the worst configuration."""
        severe = [each for each in self.configurations if each.severity]
        worst = max(severe, key=lambda each: SEVERITIES.index(each.severity), default=None)
        return worst.told[0].finding if worst else None


@dataclass(frozen=True)
class _Seen:
    """What is kept of a run while the others are read."""

    run: Run
    verdict: Verdict
    headline: Curve
    lam: Curve


def gather(
    store: Store, runs: Sequence[Run], labels: Mapping[str, str], language: str, projection: Projection = "pca"
) -> Report:
    """`labels` are what runs are called, by id; a sweep's are those of its table."""
    say = words(language)
    seen = {run.run_id: _seen(run, stored(store, run), language) for run in runs}
    scored = [run for run in runs if curve(store, run).values]
    comparison = compare(compared(store, scored, labels), language) if scored else None
    groups = {line.label: list(line.runs) for line in comparison.lines} if comparison else {}
    for run in runs:
        if run not in scored:  # a seed that failed stands with the others of its row
            groups.setdefault(labels.get(run.run_id, run.run_id), []).append(run.run_id)
    by_label = {label: [seen[run_id] for run_id in ids] for label, ids in groups.items()}
    return Report(
        language=language,
        what=_named(runs),
        card=card(store, runs, say),
        comparison=comparison,
        overview=_overview(by_label, say) if len(by_label) > 1 else [],
        configurations=[_configuration(store, label, group, say, projection) for label, group in by_label.items()],
    )


def _named(runs: Sequence[Run]) -> str:
    """The sweep that all runs are of, or their names."""
    sweeps = {run.sweep for run in runs}
    names = [sweeps.pop()] if len(sweeps) == 1 and len(runs) > 1 else []
    return ", ".join(name for name in names if name) or ", ".join(dict.fromkeys(run.name for run in runs))


def _seen(run: Run, recorded: Recording, language: str) -> _Seen:
    told = recorded.server(run.headline).finite()
    headline = told if len(told) > 1 else recorded.server(validation_of(run)).finite()
    return _Seen(run, examine(recorded, run.config.get("limits"), language), headline, recorded.mean("lam/used"))


def _configuration(store: Store, label: str, group: Sequence[_Seen], say: Say, projection: Projection) -> Configuration:
    drawn = max(group, key=_badness)
    return Configuration(
        label=label,
        runs=[seen.run for seen in group],
        told=_told(group),
        verdict=drawn.verdict,
        drawn=drawn.run,
        ranked=rankings(final_metrics(store, drawn.run.run_id), is_stream(drawn.run), say),
        figures=figures(source(store, drawn.run, stored(store, drawn.run), projection), say),
        events=read.events(store, drawn.run.run_id),
    )


def _badness(seen: _Seen) -> tuple[int, int]:
    """The severest finding counts; among equals the smaller seed."""
    worst = max((SEVERITIES.index(each.severity) for each in seen.verdict.findings), default=-1)
    return worst, -seen.run.seed


def _told(group: Sequence[_Seen]) -> list[Told]:
    """Each finding once, in the order in which the worst run has them."""
    order = sorted(group, key=_badness, reverse=True)
    codes = dict.fromkeys(each.code for seen in order for each in seen.verdict.findings)
    made = {
        code: [(s.run.run_id, each) for s in order for each in s.verdict.findings if each.code == code]
        for code in codes
    }
    return [Told(found[0][1], [run_id for run_id, _ in found]) for found in made.values()]


def _overview(by_label: Mapping[str, Sequence[_Seen]], say: Say) -> list[Figure]:
    metrics = {seen.run.headline for group in by_label.values() for seen in group}
    headline = [_mean(label, [seen.headline for seen in group]) for label, group in by_label.items()]
    lam = [_mean(label, [seen.lam for seen in group]) for label, group in by_label.items()]
    used = [line for line in lam if any(value > 0 for value in line.values)]
    is_share = all(metric.startswith("accuracy/") for metric in metrics)
    y = say("accuracy") if is_share else ", ".join(sorted(metrics))
    shown: list[Figure] = [
        Lines(key="overview", y=y, lines=[line for line in headline if line.values], is_share=is_share)
    ]
    return [*shown, Lines(key="overview-lam", y=say("lam_axis"), lines=used, is_log=True)] if used else shown


def _mean(label: str, curves: Sequence[Curve]) -> Line:
    """Over seeds at the checkpoints that all of them have; a band from the lowest to the highest."""
    held = [dict(zip(each.steps.tolist(), each.values.tolist(), strict=True)) for each in curves if len(each)]
    steps = sorted(set.intersection(*(set(each) for each in held))) if held else []
    at = [[each[step] for each in held] for step in steps]
    bands = ([min(values) for values in at], [max(values) for values in at]) if len(held) > 1 else ((), ())
    return Line(label, [step + 1 for step in steps], [fmean(values) for values in at], *bands)
