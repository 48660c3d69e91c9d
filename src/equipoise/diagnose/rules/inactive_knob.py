"""Two rows differ in one option and have bit-identical results.

settings differ in one key, and all results of all common seeds are equal to the last digit
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "inactive-knob",
    severity="warning",
    when=("compare",),
    reads=("table",),
    says="'{row}' and '{other}' differ in {key} alone, and have the same results to the last digit over {n} seeds",
    cause="nothing reads the option in this configuration",
    remedies=(Remedy("find out whether it is read; without that, the pair shows nothing"),),
)
def inactive_knob(run: Recording, limit: Limits) -> Iterator[Sign]:
    for place, row in enumerate(run.table):
        for other in run.table[:place]:
            keys, common = differing(row, other), row.results.keys() & other.results.keys()
            if len(keys) == 1 and common and all(row.results[seed] == other.results[seed] for seed in common):
                yield Sign(None, [], {"other": other.label, "key": keys[0], "n": len(common)}, row=row.label)


def differing(row: TableRow, other: TableRow) -> list[str]:
    """The keys in which two configurations differ; a key of only one of them counts if it is set."""
    keys = row.settings.keys() | other.settings.keys()
    return sorted(key for key in keys if row.settings.get(key) != other.settings.get(key))
