"""Report 1: V10's λ is too high, and the local task starves."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

TITLE = "Why V10 fails: CIFAR-10, α 0.05"
REPORTED = {"V4": "57.74", "V7 fixed": "58.77", "V9": "59.04", "V10": "46.35"}
"""Final accuracy in the report: ResNet-18, 50 000 images, 50 epochs, feature average."""


def parts(study: Study) -> list[str]:
    rows = [_row(study, label) for label in study.labels]
    header = ["", "merged", "prob. ensemble", "best client", "probe", "λ, last checkpoint", "report"]
    aligned = [label for label in study.labels if not label.startswith("V4")]
    return [
        table(header, rows),
        claims([_above(study), _probe(study), _fixed_point(study), _order(study)]),
        figures.client_curves(study, aligned, "lam", "λ", "figures/why-v10-lam.svg"),
        figures.curves(study, study.labels, {"accuracy/merged": "merged"}, "figures/why-v10-accuracy.svg"),
    ]


def _row(study: Study, label: str) -> list[str]:
    figures_ = ("accuracy/merged", "accuracy/merged/probability-ensemble", "accuracy/best_client", "accuracy/probe")
    lam = [study.at(label, s, "lam", k) for s in study.seeds for k in study.clients(label, s)]
    shown = f"{fmean(lam):.3g} ({min(lam):.3g} to {max(lam):.3g})" if lam else "–"
    return [label, *(percent(study.server(label, name)) for name in figures_), shown, REPORTED.get(label, "–")]


def _above(study: Study) -> Claim:
    pairs = [
        (study.at("V10", s, "lam", k), study.at("V9", s, "lam", k)) for s in study.seeds for k in study.clients("V9", s)
    ]
    n = sum(v10 > v9 for v10, v9 in pairs)
    return Claim("V10's λ ends above V9's on every client", f"{n} of {len(pairs)} clients", n == len(pairs))


def _probe(study: Study) -> Claim:
    means = {label: fmean(study.server(label, "accuracy/probe")) for label in REPORTED}
    lowest = min(means, key=lambda label: means[label])
    told = ", ".join(f"{label} {100 * value:.1f}" for label, value in means.items())
    return Claim("V10's probe is the lowest", told, lowest == "V10")


def _fixed_point(study: Study) -> Claim:
    """Checkpoint means of the second half, when λ has settled."""
    off = []
    for s in study.seeds:
        for k in study.clients("V10", s):
            lam, base, align = (study.curve("V10", s, name, k) for name in ("lam", "loss/base", "loss/align"))
            half = len(lam) // 2
            off += [abs(a / (b / c) - 1) for a, b, c in zip(lam[half:], base[half:], align[half:], strict=True)]
    text = f"mean deviation {100 * fmean(off):.1f} %, largest {100 * max(off):.1f} %"
    return Claim("λ of V10 is L_b/L_a of the same checkpoint, to 10 %", text, fmean(off) < 0.1)


def _order(study: Study) -> Claim:
    means = {label: fmean(study.server(label, "accuracy/merged")) for label in ("V7 fixed", "V9", "V10")}
    told = ", ".join(f"{label} {100 * value:.1f}" for label, value in means.items())
    return Claim("merged accuracy of V10 is below V7's and V9's", told, means["V10"] == min(means.values()))
