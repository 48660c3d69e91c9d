"""The same question with all users of MovieLens-1M, most of them with far shorter histories. One seed."""

from __future__ import annotations

from scripts.study import figures
from scripts.study.read import Study
from scripts.study.recommendation import figures_and_gains

TITLE = "Federated recommendation: MovieLens-1M, all 6 040 users"
FULL = "full model"
CONTROLS = {FULL: "full model, shuffled rows"}


def parts(study: Study) -> list[str]:
    file = "figures/recommendation-everybody.svg"
    return [
        *figures_and_gains(study, FULL, CONTROLS),
        figures.together(study, "hr@10/full/validation", "validation", file, "HR@10, full"),
    ]
