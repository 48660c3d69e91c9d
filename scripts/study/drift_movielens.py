"""Real histories as a stream: how far interests move, who is said to have changed, and what is hit slice by slice."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.drift import GROUPS, NAME
from scripts.study.page import table
from scripts.study.read import Study
from scripts.study.recommendation import REFERENCES

TITLE = "Interest drift: MovieLens-1M, the 1000 most active users"


def parts(study: Study) -> list[str]:
    first, slices = study.labels[0], [str(1 + k) for k in range(9)]
    told = [[name, *_told(study, first, name)] for name in ("drift/users", "interest/away")]
    rows = [
        [label, group.strip("/") or "all", *_hits(study, label, group)]
        for label in study.labels
        for group in _groups(study, label)
    ]
    rows += [[who, "all", *of] for who in REFERENCES if (of := _beside(study, who))]
    return [
        "Every slice is scored before it is trained on. Users with an alarm in it, and how far its items lie from the "
        "earlier ones (0: at right angles; the mean over users). Neither asks a model:",
        table(["", *slices], told),
        f"{NAME} slice by slice, mean over seeds; drifted are the users whose items moved most between the halves of "
        "their history:",
        table(["", "users", *slices], rows),
        figures.together(study, NAME, "all users", "figures/drift-movielens.svg", "HR@10"),
    ]


def _told(study: Study, label: str, name: str) -> list[str]:
    """The same for every seed: the histories are."""
    return [f"{value:.3g}" for value in study.curve(label, study.seeds[0], name, None)]


def _beside(study: Study, who: str) -> list[str]:
    """Of whoever only counts, from the first row that has it: under full ranking the same for all."""
    name = f"{NAME}/{who}"
    curves = (study.curve(label, seed, name, None) for label, seed in study.runs)
    return [f"{value:.3f}" for value in next(filter(None, curves), [])]


def _groups(study: Study, label: str) -> list[str]:
    named = [f"/{group}" for group in GROUPS]
    return ["", *(end for end in named if study.curve(label, study.seeds[0], f"{NAME}{end}", None))]


def _hits(study: Study, label: str, group: str) -> list[str]:
    curves = [study.curve(label, seed, f"{NAME}{group}", None) for seed in study.seeds if (label, seed) in study.runs]
    return [f"{fmean(values):.3f}" for values in zip(*curves, strict=True)]
