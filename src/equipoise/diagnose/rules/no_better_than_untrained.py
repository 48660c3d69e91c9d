"""A trained result that is no better than the untrained control.

    run          merged < common + errors · √(common·(1 − common)/n)        n test images
    comparison   mean of (row − control) over common seeds ≤ errors · its standard error

`common` is a closed-form classifier on sums of fixed random features: it needs no training and does not depend on the
split. In a comparison the control is the row with method `statistics` or `server.predict=common`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule
from equipoise.diagnose.rules.noise_not_gain import paired

CONTROL = "accuracy/merged/common"


@Rule(
    "no-better-than-untrained",
    severity="note",
    when=("end", "compare"),
    reads=("accuracy/merged|table", f"{CONTROL}|table", "fact:tested|table"),
    limits=(Limit("errors", 2.0, "standard errors above the control"),),
    says={
        "run": "merged accuracy is {merged:.1%}; sums of fixed random features have {control:.1%}, and train nothing",
        "table": "'{row}' is {gain:+.2f} points from '{control}', which trains nothing",
    },
    cause="training adds nothing to what the clients' sums say, or merging loses it",
    remedies=(
        Remedy("a server that uses them: of those recorded, {server} is best on validation", "server.predict={server}"),
        Remedy("the sums alone, which are one upload and no training", "method=statistics model=filters"),
        Remedy("compare every trained result with the untrained control before you report it"),
    ),
)
def no_better_than_untrained(run: Recording, limit: Limits) -> Iterator[Sign]:
    if run.table:
        yield from _rows(run, limit)
        return
    merged, control = run.server("accuracy/merged"), run.server(CONTROL)
    if not len(merged) or not len(control) or is_control(run.facts.get("settings", {})):
        return
    now, level = float(merged.values[-1]), float(control.values[-1])
    if now < level + limit["errors"] * sqrt(level * (1 - level) / float(run.facts["tested"])):
        yield Sign(None, [int(merged.steps[-1])], {"merged": now, "control": level}, "run")


def _rows(run: Recording, limit: Limits) -> Iterator[Sign]:
    control = next((row for row in run.table if is_control(row.settings)), None)
    for row in run.table if control is not None else ():
        assert control is not None
        gains = paired(row, control)
        if row is not control and row.metric == control.metric and gains and _is_no_gain(gains, limit):
            yield Sign(None, [], {"gain": 100 * fmean(gains), "control": control.label}, "table", row=row.label)


def _is_no_gain(gains: list[float], limit: Limits) -> bool:
    error = stdev(gains) / sqrt(len(gains)) if len(gains) > 1 else 0.0
    return fmean(gains) <= limit["errors"] * error


def is_control(settings: Mapping[str, Any]) -> bool:
    """Whether the predictions use nothing that was trained."""
    return settings.get("method.name") == "statistics" or settings.get("server.predict") == "common"
