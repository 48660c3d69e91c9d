"""FedAvg, FedProx and eight more methods on digits and CIFAR-10, with one configuration that was tuned for nobody."""

from __future__ import annotations

from statistics import fmean, stdev

from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

TITLE = "Ten methods: digits and CIFAR-10, α 0.1"
SETS = {"data=digits": "digits", "data=cifar10": "CIFAR-10"}
COLUMNS = {
    "accuracy/merged": "merged model, common test",
    "accuracy/local/mean": "merged model, own test",
    "accuracy/personal/mean": "own model, own test",
    "accuracy/personal/worst_tenth": "worst tenth of clients",
    "accuracy/clients": "own model, common test",
}
OF_MERGED = ("FedProx", "SCAFFOLD", "SCAFFOLD, clip 1", "FedNova", "FedDyn", "MOON", "FedYogi")
OF_CLIENTS = {"FedBN": "FedAvg, BatchNorm", "FedRep": "FedAvg", "Ditto": "FedAvg"}
"""Methods whose result is each client's own model, and what they are measured against."""


def parts(study: Study) -> list[str]:
    found = []
    for data, title in SETS.items():
        found += [
            f"On {title}, after the last round:",
            table(["", *COLUMNS.values(), "MB up a round"], _rows(study, data)),
        ]
    pairs = [(method, "FedAvg", "accuracy/merged", "merged model on the common test") for method in OF_MERGED]
    pairs += [
        (method, rival, "accuracy/personal/mean", "own models on their own tests")
        for method, rival in OF_CLIENTS.items()
    ]
    return [*found, claims([_above(study, data, *pair) for data in SETS for pair in pairs])]


def _rows(study: Study, data: str) -> list[list[str]]:
    methods = dict.fromkeys(label.rsplit(" data=", 1)[0] for label in study.labels)
    rows = []
    for method in methods:
        label = f"{method} {data}"
        cells = [_cell(study, label, name) for name in COLUMNS]
        rows.append([method, *cells, f"{fmean(study.server(label, 'bytes/up')) / 1e6:.2f}"])
    return rows


def _cell(study: Study, label: str, name: str) -> str:
    curves = [study.curve(label, seed, name, None) for seed in study.seeds if (label, seed) in study.runs]
    return percent([curve[-1] for curve in curves]) if all(curves) else "–"


def _above(study: Study, data: str, method: str, rival: str, name: str, what: str) -> Claim:
    """The difference on the same split, over seeds; it has to be larger than its own deviation."""
    each = zip(study.server(f"{method} {data}", name), study.server(f"{rival} {data}", name), strict=True)
    points = [100 * (ours - theirs) for ours, theirs in each]
    text = f"{SETS[data]}: {method} is above {rival} by more than the deviation, {what}"
    return Claim(text, f"{fmean(points):+.1f} ± {stdev(points):.1f} points", fmean(points) > stdev(points))
