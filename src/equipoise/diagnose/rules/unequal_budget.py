"""Rows of a comparison trained for different amounts.

a client's passes over its data (epochs × rounds × fraction; one-shot: epochs), or the number of samples, differ
from the first row's
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule
from equipoise.diagnose.rules.no_better_than_untrained import is_control

POOLED = "centralised"
"""The method with a single client, which takes part whatever the fraction."""


@Rule(
    "unequal-budget",
    severity="warning",
    when=("compare",),
    reads=("table",),
    says="'{row}' trains for {passes:g} passes over {data} samples, '{first}' for {others:g} over {theirs}",
    cause="more training may be all that the better row has",
    remedies=(Remedy("give every row the same number of rounds, epochs and samples"),),
)
def unequal_budget(run: Recording, limit: Limits) -> Iterator[Sign]:
    first = run.table[0]
    for row in run.table[1:]:
        if budget(row) != budget(first) and not is_control(row.settings):
            (passes, data), (others, theirs) = budget(row), budget(first)
            numbers: dict[str, float | str] = {"passes": passes, "data": data, "others": others, "theirs": theirs}
            yield Sign(None, [], {**numbers, "first": first.label}, row=row.label)


def budget(row: TableRow) -> tuple[float, str]:
    """(passes over the data, number of samples)."""
    settings = row.settings
    epochs = float(settings.get("client.epochs") or 1)
    fraction = 1.0 if settings.get("method.name") == POOLED else float(settings.get("server.fraction") or 1)
    rounds = float(settings.get("rounds") or 1) * fraction
    is_one_shot = settings.get("communication") == "one-shot"
    limit = settings.get("data.limit") or settings.get("data.users")
    return round(epochs if is_one_shot else epochs * rounds, 6), "all" if limit is None else str(limit)
