"""Compares runs: one row per configuration, over its seeds. Every cell resolves to run ids and a reduction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from equipoise.diagnose.examine import examine
from equipoise.diagnose.finding import Finding
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.report.statistics import (
    Difference,
    HeadlineCurve,
    MeanStd,
    UserGains,
    best,
    final,
    mean_std,
    paired,
    paired_users,
)

REDUCTIONS: Mapping[str, Callable[[HeadlineCurve], float]] = {"final": final, "best": best}
"""How the checkpoints of a run become one number."""
UNIMPORTANT = ("name", "seed", "engine", "track")
"""Keys that do not count as a difference between configurations."""


@dataclass(frozen=True)
class ComparedRun:
    """The part of a stored run that a comparison needs."""

    label: str
    config: Mapping[str, Any]
    fingerprint: str
    metric: str
    curve: HeadlineCurve
    content: str = ""
    """The hash of the data."""
    users: UserGains | None = None
    """Per-user values, if the metric is a ranking metric."""
    up: float = 0.0
    down: float = 0.0
    """Bytes of the whole run, sent up and sent down."""
    healed: Sequence[str] = ()
    """Codes of findings that a guard reacted to."""


@dataclass(frozen=True)
class ComparisonRow:
    """One row of a comparison."""

    label: str
    metric: str
    runs: Sequence[str]
    seeds: Sequence[int]
    final: MeanStd
    best: MeanStd
    difference: Difference | None
    differs: Mapping[str, Any]
    up: float = 0.0
    down: float = 0.0
    """Bytes per run, mean over seeds."""
    leads: Sequence[str] = ()
    """Columns in which no row is clearly better, and this row is clearly better than some row."""
    marks: Sequence[str] = ()
    """Codes of findings that concern this row."""


@dataclass(frozen=True)
class Comparison:
    """Rows in the given order; differences are against the first. `protocol` holds the settings that all rows share."""

    lines: Sequence[ComparisonRow]
    protocol: Mapping[str, Any]
    findings: Sequence[Finding] = ()
    """Findings about the table as a whole."""

    def to_json(self) -> dict[str, Any]:
        return {
            "against": self.lines[0].label if self.lines else None,
            "reductions": {"final": "last checkpoint", "best": "checkpoint with the highest validation figure"},
            "rows": [asdict(line) for line in self.lines],
            "protocol": dict(self.protocol),
            "findings": [finding.to_json() for finding in self.findings],
        }


def compare(runs: Sequence[ComparedRun], language: str = "en") -> Comparison:
    """Compares these runs; findings about the table are written in that language."""
    groups = _groups(runs)
    flats = [flat_config(group[0].config) for group in groups]
    shared = {key: value for key, value in flats[0].items() if all(other.get(key) == value for other in flats)}
    lines = []
    for group, own in zip(groups, flats, strict=True):
        differs = {key: value for key, value in own.items() if key not in shared}
        lines.append(_line(group, groups[0], differs))
    lines = [_distinct(line, lines, group[0]) for line, group in zip(lines, groups, strict=True)]
    leaders = {column: _leading(groups, column) for column in REDUCTIONS}
    lines = [replace(line, leads=[c for c in REDUCTIONS if i in leaders[c]]) for i, line in enumerate(lines)]
    rows = [_row(line.label, group) for line, group in zip(lines, groups, strict=True)]
    findings = examine(Recording("comparison", {}, table=rows), language=language).findings if len(rows) > 1 else []
    lines = [replace(line, marks=[each.code for each in findings if line.label in each.rows]) for line in lines]
    fingerprints = sorted({run.fingerprint for run in runs})
    return Comparison(lines, {**shared, "partition.fingerprints": fingerprints}, findings)


def _groups(runs: Sequence[ComparedRun]) -> list[list[ComparedRun]]:
    """Groups runs into rows: the same configuration, and one data set per seed."""
    contents: dict[tuple[str, int], list[str]] = {}
    groups: dict[tuple[str, int], list[ComparedRun]] = {}
    for run in runs:
        config = json.dumps(_plain(run.config), sort_keys=True)
        known = contents.setdefault((config, run.curve.seed), [])
        if run.content not in known:
            known.append(run.content)
        groups.setdefault((config, known.index(run.content)), []).append(run)
    return list(groups.values())


def _row(label: str, group: Sequence[ComparedRun]) -> TableRow:
    """The row as the rules for comparisons read it."""
    newest = {run.curve.seed: run for run in group}
    results = {seed: tuple(newest[seed].curve.values) for seed in sorted(newest)}
    partitions = frozenset(run.fingerprint for run in newest.values())
    return TableRow(label, flat_config(group[0].config), group[0].metric, results, partitions)


def _line(group: Sequence[ComparedRun], first: Sequence[ComparedRun], differs: Mapping[str, Any]) -> ComparisonRow:
    newest = {run.curve.seed: run for run in group}
    curves = [newest[seed].curve for seed in sorted(newest)]
    return ComparisonRow(
        label=group[0].label + _healed(list(newest.values())),
        metric=group[0].metric,
        runs=[curve.run_id for curve in curves],
        seeds=[curve.seed for curve in curves],
        final=mean_std([final(curve) for curve in curves]),
        best=mean_std([best(curve) for curve in curves]),
        difference=None if group is first else _difference(group, first),
        differs=differs,
        up=fmean(run.up for run in newest.values()),
        down=fmean(run.down for run in newest.values()),
    )


def _healed(runs: Sequence[ComparedRun]) -> str:
    """A note for the label if a guard changed runs of the row, with their number."""
    codes = dict.fromkeys(code for run in runs for code in run.healed)
    n = sum(bool(run.healed) for run in runs)
    return f" (healed: {', '.join(codes)}{f', {n} of {len(runs)} seeds' if len(runs) > 1 else ''})" if codes else ""


def _difference(ours: Sequence[ComparedRun], theirs: Sequence[ComparedRun], column: str = "final") -> Difference | None:
    """Paired by user if both rows ranked the same items, otherwise paired by seed."""
    users, figures = [], []
    for group in (ours, theirs):
        users.append({run.curve.seed: run.users or UserGains({}, {}) for run in group})
        figures.append({run.curve.seed: REDUCTIONS[column](run.curve) for run in group})
    return paired_users(*users) or paired(*figures)


def _leading(groups: Sequence[Sequence[ComparedRun]], column: str) -> set[int]:
    """Rows that no row clearly beats and that clearly beat some row."""

    def is_above(mine: Sequence[ComparedRun], other: Sequence[ComparedRun]) -> bool:
        lead = None if mine is other else _difference(mine, other, column)
        return lead is not None and lead.low > 0

    unbeaten = [i for i, own in enumerate(groups) if not any(is_above(other, own) for other in groups)]
    return {i for i in unbeaten if any(is_above(groups[i], other) for other in groups)}


def _distinct(line: ComparisonRow, lines: Sequence[ComparisonRow], run: ComparedRun) -> ComparisonRow:
    """Makes a repeated label unique by the settings that differ, or by the hash of the data."""
    alike = [other for other in lines if other.label == line.label]
    if len(alike) == 1:
        return line
    named = [f"{key.removesuffix('.name')}={value}" for key, value in line.differs.items()]
    settings = [setting for setting in named if setting not in line.label.split()]
    if sum(other.differs == line.differs for other in alike) > 1:
        settings.append(f"data {run.content[:8]}")
    return replace(line, label=" ".join([line.label, *settings]))


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    """Of the engine's settings only a given `together` counts, because it changes the last bits."""
    kept = {key: value for key, value in config.items() if key not in UNIMPORTANT}
    if kept.get("plugins"):  # the code counts, not where it lies
        kept["plugins"] = sorted(f"{plugin['name']} {str(plugin.get('sha256'))[:8]}" for plugin in kept["plugins"])
    together = config.get("engine", {}).get("together")
    return kept if together is None else {**kept, "engine": {"together": together}}


def flat_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys of a stored configuration, except those that do not matter here."""
    flat: dict[str, Any] = {}
    for key, value in _plain(config).items():
        inner = value if isinstance(value, Mapping) else {"": value}
        flat |= {f"{key}.{name}".rstrip("."): item for name, item in inner.items()}
    return flat
