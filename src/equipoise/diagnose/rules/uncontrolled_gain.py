"""A gain from features without a control.

    a row uses features and gains on the first row, which uses none, and
    no row has the same settings with shuffled features, or the shuffled row keeps more than `recovers` of the gain

A model with more parameters may gain without using the content of the features.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule
from equipoise.diagnose.rules.inactive_knob import differing
from equipoise.diagnose.rules.noise_not_gain import paired

EXPERTS, CONTROL, CONTROLS = "model.experts", "data.features", ("shuffled", "noise")


@Rule(
    "uncontrolled-gain",
    severity="warning",
    when=("compare",),
    reads=("table",),
    limits=(Limit("recovers", 0.5, "share of the gain that shuffled features may keep"),),
    says={
        "none": "'{row}' gains {gain:.2f} points on '{first}', and no row has its features shuffled",
        "recovers": "'{row}' gains {gain:.2f} points on '{first}'; with shuffled features {share:.0%} of that is left",
    },
    cause="what is gained may come from the additional parameters, not from what the features say",
    remedies=(
        Remedy("run the same with shuffled rows, for as many rounds", "data.features=shuffled"),
        Remedy("a control: the same model with rows that belong to other items"),
    ),
)
def uncontrolled_gain(run: Recording, limit: Limits) -> Iterator[Sign]:
    first = run.table[0]
    if EXPERTS in first.settings:
        return
    for row in run.table[1:]:
        gain = _gain(row, first)
        if EXPERTS not in row.settings or row.settings.get(CONTROL) in CONTROLS or gain <= 0:
            continue
        control = next((other for other in run.table if differing(other, row) == [CONTROL]), None)
        numbers: dict[str, float | str] = {"first": first.label, "gain": 100 * gain}
        if control is None:
            yield Sign(None, [], numbers, "none", row=row.label)
        elif (share := _gain(control, first) / gain) > limit["recovers"]:
            yield Sign(None, [], {**numbers, "share": share}, "recovers", row=row.label)


def _gain(row: TableRow, first: TableRow) -> float:
    gains = paired(row, first)
    return fmean(gains) if gains else 0.0
