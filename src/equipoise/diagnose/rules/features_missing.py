"""A modality is absent, noise, or belongs to other items.

    the result of the feature check at the start; see the guide to recommendation

Features without lift are refused unless the configuration asks for them, so every finding here was asked for. Shuffled
rows are the control that a claim about content needs: a note. Features that the user declares valid, without evidence
that they belong to these items, are a warning. Noise is an error.
Source: original report 5, whose visual features were random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Severity, Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule

GRADES: dict[str, Severity] = {"shuffled": "note", "unproven": "warning"}


@Rule(
    "features-missing",
    severity="error",
    when=("start",),
    reads=("fact:features",),
    says="{name} features are {control}: same-user lift {lift:+.4f}, with shuffled rows {shuffled:+.4f}",
    cause="rows and items do not belong together, or the rows hold noise: nothing can be learnt from them",
    remedies=(
        Remedy("give the table of these items, by id", "data.features=as-given"),
        Remedy("look for the right table: its rows must be these items', by id"),
    ),
    explains=("contrastive-at-chance", "chance-level", "starved-branch", "router-collapse"),
)
def features_missing(run: Recording, limit: Limits) -> Iterator[Sign]:
    for check in run.facts["features"]:
        lift, shuffled = float(check["lift"]), float(check["shuffled"])
        if check["control"] != "as-given":
            about = {"name": check["name"], "control": check["control"]}
            numbers = {**about, "lift": lift, "shuffled": shuffled}
            yield Sign(None, [], numbers, severity=GRADES.get(check["control"]))
