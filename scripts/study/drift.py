"""Planted drift: what a change costs, how long that lasts, and who is said to have changed.

`python -m scripts.study.drift` prints what a scorer would hit that knows every user's taste: it needs no training.
"""

from __future__ import annotations

import numpy as np
import torch
from scripts.study import figures
from scripts.study.page import table
from scripts.study.read import Study, spread

from equipoise.data.planted import PlantedOptions, make_crowd, make_world, weights
from equipoise.evaluate.drift import recovery
from equipoise.evaluate.slice_judge import SliceJudge
from equipoise.run.build import build
from equipoise.run.grid import load_grid

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


def known_tastes() -> str:
    """What a scorer hits that knows what everybody likes, slice by slice; who changes is known to it at once."""
    config = load_grid("studies/drift", ["scale=small"]).cells[0].config
    judge, options = build(config).judge, config.data
    assert isinstance(judge, SliceJudge)
    assert isinstance(options, PlantedOptions)
    data = judge.histories.interactions
    likes = np.log(weights(options, make_world(options), make_crowd(options)))[:, :, data.item_ids.astype(np.int64)]
    rows = []
    for number in range(1, options.slices):
        target = judge.target(number)
        users, changes = target.positions.users, data.changes[target.positions.users]
        has_changed = (changes >= 0) & (target.positions.at >= changes)
        scores = torch.from_numpy(likes[has_changed.astype(np.int64), users].astype(np.float32))
        hits = target.ranks(scores)["full"] <= 10
        rows.append([f"{hits[of].mean():.3f}" for of in (changes >= 0, changes < 0)])
    header = ["", *(str(1 + k) for k in range(len(rows)))]
    return table(header, [[group, *of] for group, of in zip(GROUPS, zip(*rows, strict=True), strict=True)])


if __name__ == "__main__":
    print(known_tastes())
