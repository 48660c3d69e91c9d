"""The rows of a sweep as methods under settings, so that methods are compared and not rows.

A *setting* is what clients face: data, partition and scenario. A *method* is everything else that differs. Labels are
made from the words of the rows' labels: those that all rows of a method share name the method, and likewise for a
setting. Without such words, the settings that differ name it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from equipoise.report.comparison import flat_config
from equipoise.store.records import Run

FACED = ("data", "partition", "scenario")
"""Blocks of a configuration that describe what clients face."""


Finals = Mapping[str, float]
"""Run id → final value of the headline metric; only runs that the table counts."""


@dataclass(frozen=True)
class SweepRow:
    """One row of the table: runs that differ only in their seed."""

    label: str
    method: str
    setting: str
    """Empty if all rows have the same."""
    runs: Sequence[Run]


def sweep_rows(groups: Mapping[str, Sequence[Run]], labels: Mapping[str, str]) -> list[SweepRow]:
    """`groups`: label of a row → its runs; `labels`: run id → the label without remarks, if it has one."""
    plain = {label: labels.get(runs[0].run_id) or runs[0].cell or runs[0].name for label, runs in groups.items()}
    differing = _differing({label: flat_config(runs[0].config) for label, runs in groups.items()})
    faced = {label: _part(of, is_faced=True) for label, of in differing.items()}
    chosen = {label: _part(of, is_faced=False) for label, of in differing.items()}
    is_distinct = len(set(plain.values())) == len(plain)
    methods = {label: plain[label] if is_distinct else label for label in groups}
    settings = dict.fromkeys(groups, "")
    if len(set(faced.values())) > 1:
        is_one = len(set(chosen.values())) == 1
        methods = {label: groups[label][0].method for label in groups} if is_one else _named(chosen, plain)
        settings = _named(faced, plain)
    return [SweepRow(label, methods[label], settings[label], runs) for label, runs in groups.items()]


def by_line(rows: Sequence[SweepRow]) -> Sequence[SweepRow]:
    """Rows as a chart compares them: methods under each setting; of a single method, its settings side by side."""
    is_one = len({row.method for row in rows}) == 1
    return [replace(row, method=row.label, setting="") for row in rows] if is_one else rows


def _differing(flats: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each row, the settings in which rows differ."""
    keys = dict.fromkeys(key for flat in flats.values() for key in flat)
    split = [key for key in keys if len({json.dumps(flat.get(key), sort_keys=True) for flat in flats.values()}) > 1]
    return {label: {key: flat[key] for key in split if key in flat} for label, flat in flats.items()}


def _part(differing: Mapping[str, Any], is_faced: bool) -> str:
    """The method's or the setting's share of what differs, as text."""
    kept = {key: value for key, value in differing.items() if (key.split(".")[0] in FACED) is is_faced}
    return " ".join(
        f"{key.removesuffix('.name')}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in kept.items()
    )


def _named(parts: Mapping[str, str], plain: Mapping[str, str]) -> dict[str, str]:
    """Of each row, the words that the labels of all rows with the same part share, and not all rows."""
    everywhere = _shared(list(plain.values()))
    names = {}
    for part in dict.fromkeys(parts.values()):
        words = _shared([plain[label] for label, own in parts.items() if own == part])
        names[part] = " ".join(word for word in words if word not in everywhere) or part or " ".join(words)
    is_clear = len(set(names.values())) == len(names) and all(names.values())
    firsts = {part: next(label for label, own in parts.items() if own == part) for part in names}
    return {label: names[part] if is_clear else part or plain[firsts[part]] for label, part in parts.items()}


def _shared(labels: Sequence[str]) -> list[str]:
    """The words that all labels have, in the order of the first."""
    return [word for word in labels[0].split() if all(word in label.split() for label in labels)]
