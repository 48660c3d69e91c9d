"""A row differs from every other row of its method in more than one option.

    options(a, b) = settings in which a and b differ; another policy, model or data set counts once with its settings
    min over rows of the same method of |options(row, other)| ≥ 2

Rows of other methods are not compared. Rows in between separate the options. If a method has two rows only, the
finding names the later one.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule
from equipoise.diagnose.rules.inactive_knob import differing

BLOCKS = ("balance", "model", "data", "partition")
"""Blocks that count as one difference if their names differ."""


@Rule(
    "confounded",
    severity="warning",
    when=("compare",),
    reads=("table",),
    says="'{row}' differs from '{nearest}', the nearest row, in {n} options at once: {keys}",
    cause="what changed the result cannot be told: any of the options may have",
    remedies=(Remedy("change one option at a time, or add the rows in between"),),
)
def confounded(run: Recording, limit: Limits) -> Iterator[Sign]:
    for place, row in enumerate(run.table):
        others = [other for other in run.table if other is not row and _method(other) == _method(row)]
        apart = {other.label: options(row, other) for other in others}
        if not apart or min(map(len, apart.values())) < 2:
            continue
        nearest = min(others, key=lambda other: len(apart[other.label]))
        if len(others) > 1 or run.table.index(nearest) < place:
            keys = apart[nearest.label]
            yield Sign(None, [], {"nearest": nearest.label, "n": len(keys), "keys": ", ".join(keys)}, row=row.label)


def options(row: TableRow, other: TableRow) -> list[str]:
    """The settings in which two rows differ; a block with another name counts once."""
    found = []
    for key in differing(row, other):
        block = key.partition(".")[0]
        is_another = block in BLOCKS and row.settings.get(f"{block}.name") != other.settings.get(f"{block}.name")
        found.append(block if is_another else key)
    return list(dict.fromkeys(found))


def _method(row: TableRow) -> object:
    return row.settings.get("method.name")
