"""Gathers the content of a report from the store; `html` and `markdown` render it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from equipoise.diagnose.stored import stored
from equipoise.report import sweep_content
from equipoise.report.card import card
from equipoise.report.claims import claims
from equipoise.report.comparison import Comparison, compare
from equipoise.report.content import Configuration, ListedRun, Report
from equipoise.report.examined import ExaminedRun, badness, examined, grouped
from equipoise.report.figure import Figure
from equipoise.report.figures import figures
from equipoise.report.figures.method_curves import method_curves
from equipoise.report.foremost import MOST, foremost
from equipoise.report.methods import Finals, SweepRow, sweep_rows
from equipoise.report.rankings import rankings
from equipoise.report.ranks import Ranking
from equipoise.report.runs import compared, curve
from equipoise.report.search_section import search_section
from equipoise.report.sentence import Quoted, sentence
from equipoise.report.source import Projection, source
from equipoise.report.statistics import final
from equipoise.report.stream import is_stream
from equipoise.report.words import Say, words
from equipoise.store import read
from equipoise.store.metrics import final_metrics
from equipoise.store.records import Run
from equipoise.store.transact import Store


@dataclass(frozen=True)
class _Gathered:
    """What both kinds of reports are made from."""

    store: Store
    say: Say
    rows: Sequence[SweepRow]
    seen: Mapping[str, ExaminedRun]
    finals: Finals
    comparison: Comparison | None


@dataclass(frozen=True)
class _Parts:
    """What differs between the report of a sweep and that of other runs."""

    configurations: Sequence[Configuration]
    places: Mapping[str, int]
    top: Sequence[Figure]
    pictures: Sequence[Figure]
    ranking: Ranking | None = None
    remarks: Sequence[str] = ()
    listed: Sequence[ListedRun] = ()


def gather(
    store: Store, runs: Sequence[Run], labels: Mapping[str, str], language: str, projection: Projection = "pca"
) -> Report:
    """Gathers a report; `labels` maps run ids to labels, which a sweep takes from its table.

    A sweep with several rows compares methods; other runs have a section per configuration."""
    seen = {run.run_id: examined(run, stored(store, run), language) for run in runs}
    found = _gathered(store, seen, labels, language)
    parts = _of_sweep(found) if sweep_content.is_sweep(found.rows, labels) else _of_runs(found, projection)
    quoted = _quoted(found, parts)
    return Report(
        language=language,
        what=_named(runs),
        sentence=sentence(quoted, claims(quoted, found.say), found.say),
        card=card(store, {row.label: row.runs for row in found.rows}, found.say),
        comparison=found.comparison,
        top=parts.top,
        pictures=parts.pictures,
        configurations=parts.configurations,
        remarks=parts.remarks,
        places=parts.places,
        listed=parts.listed,
        search=search_section(store, runs, found.say),
    )


def _gathered(store: Store, seen: Mapping[str, ExaminedRun], labels: Mapping[str, str], language: str) -> _Gathered:
    runs = [each.run for each in seen.values()]
    scored = [run for run in runs if curve(store, run).values]
    table = compared(store, scored, labels) if scored else []
    comparison = compare(table, language) if scored else None
    groups = {line.label: list(line.runs) for line in comparison.lines} if comparison else {}
    finals = {each.curve.run_id: final(each.curve) for each in table}
    counted = {run_id for ids in groups.values() for run_id in ids}
    for run in runs:
        if run not in scored:  # a failed seed joins the other seeds of its row
            groups.setdefault(labels.get(run.run_id, run.run_id), []).append(run.run_id)
    rows = sweep_rows({label: [seen[run_id].run for run_id in ids] for label, ids in groups.items()}, labels)
    kept = {run_id: value for run_id, value in finals.items() if run_id in counted}
    return _Gathered(store, words(language), rows, seen, kept, comparison)


def _of_sweep(found: _Gathered) -> _Parts:
    drawn = sweep_content.sweep_pictures(found.rows, found.seen, found.finals, found.say)
    return _Parts(
        configurations=sweep_content.by_method(found.rows, found.seen),
        places=sweep_content.places(found.rows),
        top=drawn.figures[:MOST],
        pictures=drawn.figures[MOST:],
        ranking=drawn.ranking,
        remarks=drawn.remarks,
        listed=sweep_content.listed(found.rows, found.finals),
    )


def _of_runs(found: _Gathered, projection: Projection) -> _Parts:
    configurations = [_configuration(found, row, projection) for row in found.rows]
    places = {row.label: place for place, row in enumerate(found.rows)}
    courses = {row.label: [found.seen[run.run_id].course for run in row.runs] for row in found.rows}
    shared = list(method_curves(courses, places, found.say)) if len(found.seen) > 1 else []
    if len(configurations) > 1:
        return _Parts(configurations, places, shared[:MOST], shared[MOST:])
    (single,) = configurations
    top = foremost([*shared, *single.figures], [each.finding for each in single.findings])
    rest, others = ([figure for figure in figures if figure not in top] for figures in (single.figures, shared))
    return _Parts([replace(single, figures=rest)], places, top, others)


def _quoted(found: _Gathered, parts: _Parts) -> Quoted:
    runs = [each.run for each in found.seen.values()]
    fingerprints = {run.partition for run in runs if run.partition}
    ends = {run.run_id: final_metrics(found.store, run.run_id) for run in runs if run.run_id in found.finals}
    return Quoted(
        rows=found.rows,
        comparison=found.comparison,
        finals=found.finals,
        over_users={
            run.run_id: (100 * ends[run.run_id][f"{run.headline}/low"], 100 * ends[run.run_id][f"{run.headline}/high"])
            for run in runs
            if f"{run.headline}/high" in ends.get(run.run_id, {})
        },
        partitions={fingerprint: read.partition(found.store, fingerprint) for fingerprint in fingerprints},
        configurations=parts.configurations,
        ranking=parts.ranking,
    )


def _named(runs: Sequence[Run]) -> str:
    """The name of the sweep that contains all runs, or the names of the runs."""
    sweeps = {run.sweep for run in runs}
    names = [sweeps.pop()] if len(sweeps) == 1 and len(runs) > 1 else []
    return ", ".join(name for name in names if name) or ", ".join(dict.fromkeys(run.name for run in runs))


def _configuration(found: _Gathered, row: SweepRow, projection: Projection) -> Configuration:
    group = [found.seen[run.run_id] for run in row.runs]
    worst, store = max(group, key=badness), found.store
    drawn = worst.run
    return Configuration(
        label=row.label,
        runs=row.runs,
        findings=grouped(group),
        verdict=worst.verdict,
        drawn=drawn,
        ranked=rankings(final_metrics(store, drawn.run_id), is_stream(drawn), found.say),
        figures=figures(source(store, drawn, stored(store, drawn), projection), found.say),
        events=read.events(store, drawn.run_id),
    )
