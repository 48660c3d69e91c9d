"""One upload in closed form on whole sets: accuracy against skew and number of clients, with what is sent beside."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

TITLE = "One upload, any skew: the closed form on CIFAR-10, Fashion-MNIST and Tiny-ImageNet-32 with 100 classes"
SETS = {"cifar10": "CIFAR-10", "fashion-mnist": "Fashion-MNIST", "tiny-imagenet 100": "Tiny-100"}
SKEWS = {f"dirichlet {alpha}": f"α {alpha}" for alpha in ("0.01", "0.05", "0.1", "0.5")} | {"iid": "iid"}
CLIENTS = (5, 20, 100)
FLAT = 0.1
"""Points between two splits of the same samples that are rounding."""


def parts(study: Study) -> list[str]:
    found = []
    for data, title in SETS.items():
        rows = [
            [f"{k} clients", *(_cell(study, data, skew, k) for skew in SKEWS), _megabytes(study, data, k)]
            for k in CLIENTS
        ]
        found += [f"{title}, accuracy of the last checkpoint:", table(["", *SKEWS.values(), "MB up, a client"], rows)]
    lines = {f"{title}, {k} clients": _points(study, data, k) for data, title in SETS.items() for k in CLIENTS}
    picture = figures.against({name: line for name, line in lines.items() if line}, "skew", "figures/skew.svg")
    return [*found, claims([_flat(study, data, title) for data, title in SETS.items()]), picture]


def _label(data: str, skew: str, clients: int) -> str:
    return f"analytic data={data} partition={skew} partition.clients={clients}"


def _cell(study: Study, data: str, skew: str, clients: int) -> str:
    found = study.server(_label(data, skew, clients), "accuracy/merged")
    return percent(found) if found else "–"


def _megabytes(study: Study, data: str, clients: int) -> str:
    found = [value for skew in SKEWS for value in study.server(_label(data, skew, clients), "bytes/up")]
    return f"{fmean(found) / clients / 1e6:.1f}" if found else "–"


def _points(study: Study, data: str, clients: int) -> list[tuple[str, float]]:
    each = {name: study.server(_label(data, skew, clients), "accuracy/merged") for skew, name in SKEWS.items()}
    return [(name, fmean(found)) for name, found in each.items() if found]


def _flat(study: Study, data: str, title: str) -> Claim:
    """The largest difference between two splits with the same seed."""
    widths = []
    for seed in study.seeds:
        labels = [label for skew in SKEWS for k in CLIENTS if ((label := _label(data, skew, k)), seed) in study.runs]
        found = [100 * study.at(label, seed, "accuracy/merged", None) for label in labels]
        widths += [max(found) - min(found)] if found else []
    text = f"{title}: the same for every skew and number of clients, to {FLAT} points"
    return (
        Claim(text, f"{max(widths):.2f} points apart at most", max(widths) <= FLAT)
        if widths
        else Claim(text, "–", False)
    )
