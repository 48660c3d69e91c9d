"""Rows of one table do not measure the same thing.

    the metric, the test data, the communication, the number of exchanges, or (for the same seeds) the partition
    differs from the first row's

Partitions are compared by fingerprint, a hash of which client owns which sample, and not by the splitter's name.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.core.exchanges import needs_second_exchange
from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule

PROTOCOL = ("data.name", "data.test_limit", "data.split", "data.classes", "communication")


@Rule(
    "mixed-protocol",
    severity="warning",
    when=("compare",),
    reads=("table",),
    says="'{row}' is not under the protocol of '{first}': {what} differs",
    cause="figures under two protocols cannot be subtracted",
    remedies=(Remedy("two tables, or one protocol"),),
)
def mixed_protocol(run: Recording, limit: Limits) -> Iterator[Sign]:
    first = run.table[0]
    for row in run.table[1:]:
        if what := _differs(row, first):
            yield Sign(None, [], {"first": first.label, "what": ", ".join(what)}, row=row.label)


def _differs(row: TableRow, first: TableRow) -> list[str]:
    what = [key for key in PROTOCOL if row.settings.get(key) != first.settings.get(key)]
    again = [needs_second_exchange(one.settings.get("server.predict")) for one in (row, first)]
    what += ["a second exchange"] if again[0] != again[1] else []
    what += ["the metric"] if row.metric != first.metric else []
    same_seeds = row.results.keys() == first.results.keys()
    return what + (["the partition"] if same_seeds and row.partitions != first.partitions else [])
