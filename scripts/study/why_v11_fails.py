"""Report 2: the schedule that V11 anneals with is undone by what V11 learns."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

TITLE = "Why V11 fails: Tiny-ImageNet-32 with 100 classes in place of CIFAR-100, α 0.05"
REPORTED = {"V7": "40.41", "V9 × linear": "39.83", "V11 linear": "38.35", "V11 cosine": "38.51"}
GROWTH = {"V11 linear": ("×7.1 / ×7.6", 6), "V11 cosine": ("×28.8 / ×30.9", 18)}
"""λ at checkpoint 9 over λ at checkpoint 0 of the report's clients 0 and 1, and the growth that is claimed."""


def parts(study: Study) -> list[str]:
    header = [
        "",
        "merged",
        "prob. ensemble",
        "best client",
        "probe",
        "λ·s, checkpoints 1 to 8",
        "λ, last/first",
        "report",
    ]
    learned = [label for label in study.labels if label.startswith("V11")]
    return [
        table(header, [_row(study, label) for label in study.labels]),
        claims([*(_flat(study, label) for label in GROWTH), *(_grows(study, label) for label in GROWTH), _cure(study)]),
        figures.client_curves(study, learned, "lam", "λ (checkpoint mean)", "figures/why-v11-lam.svg"),
        figures.client_curves(study, learned, "lam/used", "λ·s (checkpoint mean)", "figures/why-v11-used.svg"),
    ]


def _row(study: Study, label: str) -> list[str]:
    names = ("accuracy/merged", "accuracy/merged/probability-ensemble", "accuracy/best_client", "accuracy/probe")
    flat = growth = "–"
    if study.clients(label, study.seeds[0]):
        flat = f"within ±{100 * max(_deviations(study, label)):.0f} %"
        growth = f"×{fmean(_growth(study, label)):.3g}"
    return [label, *(percent(study.server(label, name)) for name in names), flat, growth, REPORTED.get(label, "–")]


def _deviations(study: Study, label: str) -> list[float]:
    """max |λ·s / mean − 1| over checkpoints 1 to 8, of every client."""
    found = []
    for s in study.seeds:
        for k in study.clients(label, s):
            used = study.curve(label, s, "lam/used", k)[1:9]
            found.append(max(abs(value / fmean(used) - 1) for value in used))
    return found


def _growth(study: Study, label: str) -> list[float]:
    """λ of checkpoint 9 over λ of checkpoint 0, checkpoint means, of every client."""
    curves = [study.curve(label, s, "lam", k) for s in study.seeds for k in study.clients(label, s)]
    return [curve[-1] / curve[0] for curve in curves]


def _flat(study: Study, label: str) -> Claim:
    found = _deviations(study, label)
    told = f"{sum(d <= 0.15 for d in found)} of {len(found)} clients; largest ±{100 * max(found):.0f} %"
    return Claim(f"{label}: λ·s stays within ±15 % over checkpoints 1 to 8", told, max(found) <= 0.15)


def _grows(study: Study, label: str) -> Claim:
    found, (reported, least) = _growth(study, label), GROWTH[label]
    told = f"×{min(found):.1f} to ×{max(found):.1f} (report: {reported})"
    return Claim(f"{label}: λ grows at least {least}-fold", told, min(found) >= least)


def _cure(study: Study) -> Claim:
    label = "V11 σ sees un-annealed losses"
    ends = [study.curve(label, s, "lam/used", k) for s in study.seeds for k in study.clients(label, s)]
    shares = [curve[-1] / curve[0] for curve in ends]
    told = f"λ·s ends at {100 * fmean(shares):.0f} % of its start (V11 linear: {100 * fmean(_kept(study)):.0f} %)"
    return Claim("where σ sees un-annealed losses, λ·s does fall", told, max(shares) < 0.5)


def _kept(study: Study) -> list[float]:
    label = "V11 linear"
    curves = [study.curve(label, s, "lam/used", k) for s in study.seeds for k in study.clients(label, s)]
    return [curve[-1] / curve[0] for curve in curves]
