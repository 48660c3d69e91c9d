"""A gain smaller than the noise between seeds.

0 < mean of the paired differences < errors · their standard error, over `seeds` or more common seeds
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from statistics import fmean, stdev

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "noise-not-gain",
    severity="note",
    when=("compare",),
    reads=("table",),
    limits=(
        Limit("errors", 2.0, "standard errors that a gain must exceed"),
        Limit("seeds", 3, "fewer common seeds are not judged"),
    ),
    says="'{row}' is {gain:+.2f} points from '{first}', with a standard error of {error:.2f} over {n} seeds",
    cause="seeds differ by more than the two configurations do",
    remedies=(Remedy("more seeds, or no claim"),),
)
def noise_not_gain(run: Recording, limit: Limits) -> Iterator[Sign]:
    first = run.table[0]
    for row in run.table[1:]:
        gains = paired(row, first)
        if len(gains) < limit["seeds"]:
            continue
        mean, error = fmean(gains), stdev(gains) / sqrt(len(gains))
        if 0 < mean < limit["errors"] * error:
            numbers: dict[str, float | str] = {"gain": 100 * mean, "error": 100 * error, "n": len(gains)}
            yield Sign(None, [], {**numbers, "first": first.label}, row=row.label)


def paired(row: TableRow, first: TableRow) -> list[float]:
    """Differences of the final results, paired by seed."""
    mine, its = row.finals, first.finals
    return [mine[seed] - its[seed] for seed in sorted(mine.keys() & its.keys())]
