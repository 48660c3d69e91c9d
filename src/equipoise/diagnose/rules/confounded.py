"""A "sensitivity" pair differs in more than one option.

    a row has the method, the policy and the model of the first, differs from it in several keys,
    and no row of the table differs from both in fewer

Rows of another method are another question, and rows in between tell the options apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.rule import Limits, Rule
from equipoise.diagnose.rules.inactive_knob import differing

SAME = ("method.name", "balance.name", "model.name", "data.name")


@Rule(
    "confounded",
    severity="warning",
    when="compare",
    reads=("table",),
    says="'{row}' differs from '{first}' in {n} options at once: {keys}",
    cause="what changed the result cannot be told: any of the options may have",
    remedy="change one option at a time, or add the rows in between",
)
def confounded(run: Recording, limit: Limits) -> Iterator[Sign]:
    first = run.table[0]
    for row in run.table[1:]:
        keys = differing(row, first)
        if len(keys) < 2 or any(row.settings.get(key) != first.settings.get(key) for key in SAME):
            continue
        others = [other for other in run.table if other not in (row, first)]
        is_between = any(max(len(differing(other, row)), len(differing(other, first))) < len(keys) for other in others)
        if not is_between:
            yield Sign(None, [], {"first": first.label, "n": len(keys), "keys": ", ".join(keys)}, row=row.label)
