"""Ours against V4 and the other one-shot methods, on three sets, with one configuration."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

TITLE = "Ours, one upload: CIFAR-10, Tiny-ImageNet-32 with 100 classes, Fashion-MNIST, α 0.05"
SETS = {"data=cifar10": "CIFAR-10", "data=tiny-imagenet 100": "Tiny-100", "data=fashion-mnist": "Fashion-MNIST"}
SERVERS = (
    "feature-average", "iffi", "iffi-published", "anchors", "parameter-average", "recalibrated-average",
    "probability-ensemble", "energy-gate", "typicality-gate", "common", "common-gate", "statistics-exchange",
)  # fmt: skip
SECOND = ("recalibrated-average", "statistics-exchange")


def parts(study: Study) -> list[str]:
    header = ["", *SETS.values(), "mean"]
    methods = _methods(study)
    return [
        "Methods, each with its own way to predict; accuracy on test at the last checkpoint:",
        table(header, [_line(study, method, method, "accuracy/merged") for method in methods]),
        "Every server on the same clients (`equipoise fuse`): V4's, then ours. Rows marked † need a second exchange.",
        table(["on V4's clients", *header[1:]], _servers(study, "V4")),
        table(["on our clients", *header[1:]], _servers(study, "ours")),
        claims([*_gains(study), *_steady(study)]),
        figures.curves(
            study,
            [f"{method} {data}" for method in ("V4", "ours") for data in SETS],
            {"accuracy/merged": "merged", "accuracy/clients": "clients, mean"},
            "figures/ours-accuracy.svg",
        ),
    ]


def _methods(study: Study) -> list[str]:
    return list(dict.fromkeys(label.rsplit(" data=", 1)[0] for label in study.labels))


def _servers(study: Study, method: str) -> list[list[str]]:
    rows = [
        _line(study, method, f"{name} †" if name in SECOND else name, f"accuracy/merged/{name}") for name in SERVERS
    ]
    rows.append(_line(study, method, "best client", "accuracy/best_client"))
    return [*rows, _line(study, method, "probe", "accuracy/probe")]


def _line(study: Study, method: str, title: str, name: str) -> list[str]:
    each = [study.server(f"{method} {data}", name) for data in SETS]
    means = [fmean(values) for values in zip(*each, strict=True)]
    return [title, *(percent(values) for values in each), percent(means)]


def _mean(study: Study, method: str, name: str) -> float:
    return 100 * fmean(value for data in SETS for value in study.server(f"{method} {data}", name))


def _gains(study: Study) -> list[Claim]:
    ours, second = _mean(study, "ours", "accuracy/merged"), _mean(study, "ours", "accuracy/merged/statistics-exchange")
    published = _mean(study, "V4", "accuracy/merged/feature-average")
    rival = _mean(study, "V4", "accuracy/merged/probability-ensemble")
    others = [name for name in _methods(study) if name not in ("V4", "ours", "statistics")]
    best = max(others, key=lambda name: _mean(study, name, "accuracy/merged"))
    alone = _mean(study, "statistics", "accuracy/merged")

    def claim(text: str, gain: float, least: float) -> Claim:
        return Claim(text, f"{gain:+.1f} points", gain >= least)

    return [
        claim("ours is at least 10 points above V4 with feature average, mean of the sets", ours - published, 10),
        claim("ours is at least 4 points above V4's probability ensemble", ours - rival, 4),
        claim("with a second exchange at least 20 points above V4 with feature average", second - published, 20),
        claim(
            f"ours is above the best of {', '.join(others)}: {best}", ours - _mean(study, best, "accuracy/merged"), 0
        ),
        claim("ours is above `statistics`, which trains nothing", ours - alone, 0),
    ]


def _steady(study: Study) -> list[Claim]:
    found = []
    for data, title in SETS.items():
        curves = [study.curve(f"ours {data}", s, "accuracy/merged", None) for s in study.seeds]
        mean = [fmean(values) for values in zip(*curves, strict=True)]
        drop = 100 * (max(mean) - mean[-1])
        text = f"{title}: ours ends within 1 point of its best checkpoint (mean of seeds)"
        found.append(Claim(text, f"{drop:.1f} points below", drop <= 1))
    return found
