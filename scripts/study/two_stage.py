"""Report 4: a stage of contrast alone, with public features, against V4 from the start."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

TITLE = "Two stages with a public feature bank: CIFAR-10"
ALPHAS = ("0.5", "0.3", "0.1", "0.05")
READ = (0, 1, 2, 5)
"""The checkpoints that the report reads."""
REPORTED = {
    "0.5": (-9.55, -5.43, -4.21, -2.34),
    "0.3": (-17.51, -14.00, -12.18, -9.66),
    "0.1": (-15.62, -18.05, -17.10, -13.51),
    "0.05": (-30.12, -33.58, -34.84, -33.33),
}
"""Two-stage minus V4 in the report, in points, at those checkpoints."""


def parts(study: Study) -> list[str]:
    deltas = [["α " + alpha, *(_delta(study, alpha, i, step) for i, step in enumerate(READ))] for alpha in ALPHAS]
    ends = [[label, *(percent(study.server(label, name)) for name in NAMES)] for label in study.labels]
    return [
        "Two-stage minus V4, same split, in points (the report's figure in brackets):",
        table(["", *(f"checkpoint {step}" for step in READ)], deltas),
        "At the last checkpoint:",
        table(["", "merged", "prob. ensemble", "best client", "probe"], ends),
        claims([*(_below(study, alpha) for alpha in ALPHAS), _stale(study)]),
        figures.curves(study, study.labels, {"accuracy/merged": "merged"}, "figures/two-stage-accuracy.svg"),
    ]


NAMES = ("accuracy/merged", "accuracy/merged/probability-ensemble", "accuracy/best_client", "accuracy/probe")


def _difference(study: Study, one: str, other: str, step: int) -> list[float]:
    pairs = zip(study.server(one, NAMES[0], step), study.server(other, NAMES[0], step), strict=True)
    return [a - b for a, b in pairs]


def _delta(study: Study, alpha: str, i: int, step: int) -> str:
    found = percent(_difference(study, f"two-stage α {alpha}", f"V4 α {alpha}", step))
    return f"{found} ({REPORTED[alpha][i]:+.1f})"


def _below(study: Study, alpha: str) -> Claim:
    found = _difference(study, f"two-stage α {alpha}", f"V4 α {alpha}", -1)
    others = ", ".join(f"{method} {_beside(study, method, alpha)}" for method in ("curriculum", "adaptive"))
    told = f"{percent(found)} points; {others}"
    return Claim(f"α {alpha}: two-stage ends below V4 on the same split", told, fmean(found) < 0)


def _beside(study: Study, method: str, alpha: str) -> str:
    return percent(_difference(study, f"{method} α {alpha}", f"V4 α {alpha}", -1))


def _stale(study: Study) -> Claim:
    artefact = _difference(study, "two-stage α 0.05", "V4 near IID", -1)
    honest = _difference(study, "two-stage α 0.05", "V4 α 0.05", -1)
    told = f"{percent(artefact)} points against a near-IID V4, {percent(honest)} against V4 on its own split"
    text = "α 0.05: most of the report's −33 comes from a baseline whose index cache was stale (near IID)"
    return Claim(text, told, fmean(artefact) < fmean(honest) - 0.05)
