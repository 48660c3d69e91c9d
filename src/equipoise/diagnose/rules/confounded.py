"""A row differs from every other row of its method in more than one option.

    options(a, b) = settings in which a and b differ; another policy, model or data set with all that is its own is one
    fires for a row where the least of options(row, other) over the rows of the same method is 2 or more

Rows of another method are another question, and rows in between tell the options apart. Of two rows that have only
each other the later one is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule
from equipoise.diagnose.rules.inactive_knob import differing

BLOCKS = ("balance", "model", "data", "partition")
"""Blocks that another name makes another thing of."""


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
    """What two rows differ in, a block that has another name counted once."""
    found = []
    for key in differing(row, other):
        block = key.partition(".")[0]
        is_another = block in BLOCKS and row.settings.get(f"{block}.name") != other.settings.get(f"{block}.name")
        found.append(block if is_another else key)
    return list(dict.fromkeys(found))


def _method(row: TableRow) -> object:
    return row.settings.get("method.name")
