"""Ours against V4 and the other one-shot methods, on three sets, with one configuration."""

from __future__ import annotations

from statistics import fmean, stdev

from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

from equipoise.run.fuse import Server

TITLE = "Ours, one upload: CIFAR-10, Tiny-ImageNet-32 with 100 classes, Fashion-MNIST, α 0.05"
SETS = {"data=cifar10": "CIFAR-10", "data=tiny-imagenet 100": "Tiny-100", "data=fashion-mnist": "Fashion-MNIST"}
SERVERS = (
    "feature-average", "iffi", "iffi-published", "anchors", "parameter-average", "recalibrated-average",
    "probability-ensemble", "energy-gate", "typicality-gate", "common", "common-gate", "statistics-exchange",
)  # fmt: skip
ADDING = ("common", "common-gate", "common-correction", "common-exchange")
"""Servers on patches of photographs; `common` is the closed form alone, trained clients have no part in it."""
SECOND = ("recalibrated-average", "statistics-exchange", "common-exchange")
EARLIER_COMMIT = "03aeb98"
EARLIER = {
    "ensemble": ("27.3 ± 1.9", "6.2 ± 1.0", "48.2 ± 0.6", "27.2 ± 0.7"),
    "FedETF": ("30.0 ± 0.9", "5.6 ± 0.8", "55.0 ± 3.0", "30.2 ± 1.5"),
    "FedProto": ("25.4 ± 2.9", "2.9 ± 0.3", "40.1 ± 14.9", "22.8 ± 5.7"),
    "statistics": ("53.8 ± 0.6", "11.1 ± 1.1", "83.8 ± 0.7", "49.6 ± 0.4"),
}
"""Rows of the page at that commit, for a store that has not all runs of them."""
ORDER = ("V4", "ours", "ensemble", "FedETF", "FedProto", "statistics", "analytic")
STUDENT = 4.303
"""97.5 % quantile of Student's t with two degrees of freedom: three seeds."""


def parts(study: Study) -> list[str]:
    header = ["", *SETS.values(), "mean"]
    adding = {server: _fused(study, server) for server in ADDING}
    return [
        "Methods, each with its own way to predict; accuracy on test at the last checkpoint. `ours` has the gate on "
        f"random filters, `statistics` the same filters, `analytic` 400 filters cut from photographs.{_note(study)}",
        table(header, [_method(study, method) for method in _methods(study)]),
        "Whether training adds to `analytic`: servers that listen to our trained clients, on the same 400 filters "
        "(`equipoise fuse --common patches`). The last column is the gain over `analytic`, mean of the sets, paired "
        "over seeds, with its 95 % interval.",
        table([*header, "gain"], [_added(study, *row) for row in adding.items()]),
        "Every server on the same clients (`equipoise fuse`): V4's, then ours. Rows marked † need a second exchange.",
        table(["on V4's clients", *header[1:]], _servers(study, "V4")),
        table(["on our clients", *header[1:]], _servers(study, "ours")),
        claims([*_gains(study), *_adds(study, adding), *_steady(study)]),
        figures.curves(
            study,
            [f"{method} {data}" for method in ("V4", "ours") for data in SETS],
            {"accuracy/merged": "merged", "accuracy/clients": "clients, mean"},
            "figures/ours-accuracy.svg",
        ),
    ]


Accuracies = list[list[float]]
"""Of each set, of every seed."""


def _methods(study: Study) -> list[str]:
    """Rows in the order of the study, whether all their runs are there or only an earlier page has them."""
    found = list(dict.fromkeys([*(label.rsplit(" data=", 1)[0] for label in study.labels), *EARLIER]))
    return sorted(found, key=ORDER.index)


def _is_here(study: Study, method: str) -> bool:
    return all((f"{method} {data}", seed) in study.runs for data in SETS for seed in study.seeds)


def _note(study: Study) -> str:
    earlier = [method for method in EARLIER if not _is_here(study, method)]
    return f" {', '.join(earlier)}: made at commit {EARLIER_COMMIT}." if earlier else ""


def _method(study: Study, method: str) -> list[str]:
    if method in EARLIER and not _is_here(study, method):
        return [method, *EARLIER[method]]
    return _line(study, method, method, "accuracy/merged")


def _points(study: Study, method: str) -> list[float]:
    """Mean accuracy over seeds of each set, then of all sets, in points."""
    if method in EARLIER and not _is_here(study, method):
        return [float(figure.split()[0]) for figure in EARLIER[method]]
    each = [100 * fmean(study.server(f"{method} {data}", "accuracy/merged")) for data in SETS]
    return [*each, fmean(each)]


def _fused(study: Study, server: str) -> Accuracies:
    return [study.fused(f"ours {data}", [Server(predict=server, common="patches")])[0] for data in SETS]


def _added(study: Study, server: str, each: Accuracies) -> list[str]:
    title = f"{server} †" if server in SECOND else server
    means = [fmean(values) for values in zip(*each, strict=True)]
    mean, half = _gain(study, each)
    return [title, *(percent(values) for values in each), percent(means), f"{mean:+.2f} ± {half:.2f}"]


def _gain(study: Study, each: Accuracies) -> tuple[float, float]:
    """Points above `analytic`, mean of the sets, and half of the 95 % interval over seeds."""
    closed = [study.server(f"analytic {data}", "accuracy/merged") for data in SETS]
    pairs = zip(zip(*each, strict=True), zip(*closed, strict=True), strict=True)
    gains = [100 * (fmean(ours) - fmean(theirs)) for ours, theirs in pairs]
    return fmean(gains), STUDENT * stdev(gains) / len(gains) ** 0.5


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
    others = {name: _points(study, name)[-1] for name in ("ensemble", "FedETF", "FedProto")}
    best = max(others, key=lambda name: others[name])
    alone = _points(study, "statistics")[-1]

    def claim(text: str, gain: float, least: float) -> Claim:
        return Claim(text, f"{gain:+.1f} points", gain >= least)

    return [
        claim("ours is at least 10 points above V4 with feature average, mean of the sets", ours - published, 10),
        claim("ours is at least 4 points above V4's probability ensemble", ours - rival, 4),
        claim("with a second exchange at least 20 points above V4 with feature average", second - published, 20),
        claim(f"ours is above the best of {', '.join(others)}: {best}", ours - others[best], 0),
        claim("ours is above `statistics`, which trains nothing", ours - alone, 0),
    ]


def _adds(study: Study, adding: dict[str, Accuracies]) -> list[Claim]:
    """The closed form against sums of random filters, and trained clients against the closed form."""
    wide, narrow = (_points(study, name)[0] for name in ("analytic", "statistics"))
    text = "CIFAR-10: `analytic` is at least 8 points above `statistics`"
    found = [Claim(text, f"{wide - narrow:+.1f} points", wide - narrow >= 8)]
    for server, when in (("common-correction", "one upload"), ("common-exchange", "second exchange")):
        mean, half = _gain(study, adding[server])
        text = f"{when}: `{server}` is above `analytic` by more than its interval, mean of the sets"
        found.append(Claim(text, f"{mean:+.2f} ± {half:.2f} points", mean > half))
    return found


def _steady(study: Study) -> list[Claim]:
    found = []
    for data, title in SETS.items():
        curves = [study.curve(f"ours {data}", s, "accuracy/merged", None) for s in study.seeds]
        mean = [fmean(values) for values in zip(*curves, strict=True)]
        drop = 100 * (max(mean) - mean[-1])
        text = f"{title}: ours ends within 1 point of its best checkpoint (mean of seeds)"
        found.append(Claim(text, f"{drop:.1f} points below", drop <= 1))
    return found
