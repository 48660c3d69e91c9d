"""Planted drift: what a change costs, how long that lasts, and who is said to have changed."""

from __future__ import annotations

from scripts.study import figures
from scripts.study.page import table
from scripts.study.read import Study, spread

from equipoise.evaluate.drift import recovery

TITLE = "Interest drift: generated histories, a planted change"
CHANGE = 5
"""Slices 1 to 9 are scored; the change falls into the sixth of them."""
GROUPS = ("drifted", "steady")
NAME = "hr@10/full"


def parts(study: Study) -> list[str]:
    rows = [[label, group, *_recovered(study, label, group)] for label in study.labels for group in GROUPS]
    alarms = [[label, *_alarms(study, label)] for label in study.labels if study.curve(label, 0, "drift/users", None)]
    return [
        f"{NAME} before the change (mean of three slices), how far below it the first slice after the change is, and "
        "how many slices later it is back within 5 %, per seed:",
        table(["", "users", "before", "drop", "slices to recover"], rows),
        "Users with an alarm, slice by slice (50 of 200 change in the sixth):",
        table(["", *(str(1 + k) for k in range(9))], alarms),
        figures.curves(
            study, study.labels, {f"{NAME}/{group}": group for group in GROUPS}, "figures/drift.svg", "HR@10"
        ),
    ]


def _recovered(study: Study, label: str, group: str) -> list[str]:
    found = [recovery(study.curve(label, s, f"{NAME}/{group}", None), CHANGE) for s in study.seeds]
    back = ", ".join("never" if one.rounds is None else str(one.rounds) for one in found)
    return [spread([one.level for one in found]), spread([one.drop for one in found]), back]


def _alarms(study: Study, label: str) -> list[str]:
    """The same for every seed: the histories are, and no model is asked."""
    return [f"{value:.0f}" for value in study.curve(label, study.seeds[0], "drift/users", None)]
