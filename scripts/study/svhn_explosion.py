"""Report 3: λ runs away. What falls is the merge, not the clients."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, percent

from equipoise.run.fuse import Server

TITLE = "Explosion: Fashion-MNIST in place of SVHN, α 0.05"
GAMMA = 1e-3
CAP = 54.6
MERGES = ("plain", "unit", "counts")
RUNS_AWAY, AT_ANCHORS = ("V12", "V12 fading rate"), ("V12 anchor start", "V12 anchor start fading rate")
FUSED = ("V4", "V12", "V12 anchor start", "equilibrium", "equilibrium anchor start")


def parts(study: Study) -> list[str]:
    header = [
        "",
        "merged, end",
        "its peak",
        "anchors",
        "prob. ensemble",
        "clients",
        "probe",
        "largest λ",
        "λ at bounds",
    ]
    learned = [label for label in study.labels if label != "V4"]
    accuracies = {"accuracy/merged": "merged", "accuracy/clients": "clients, mean", "accuracy/probe": "probe"}
    return [
        table(header, [_row(study, label) for label in study.labels]),
        "Prototypes merged in three ways, feature average, on the same clients (`equipoise fuse`):",
        table(["", *MERGES], [_merged(study, label) for label in FUSED]),
        claims(
            [
                _runs_away(study),
                *(claim for label in RUNS_AWAY for claim in (*_falls(study, label), _holds(study, label))),
                *(claim for label in AT_ANCHORS for claim in _harmless(study, label)),
                *(_floor(study, label) for label in ("V13", "V13 fading rate fast σ")),
                _cap(study),
            ]
        ),
        figures.client_curves(study, learned, "lam", "λ", "figures/explosion-lam.svg"),
        figures.curves(study, study.labels, accuracies, "figures/explosion-accuracy.svg"),
        figures.client_curves(study, study.labels, "proto/norm", "‖p‖", "figures/explosion-norm.svg"),
    ]


def _row(study: Study, label: str) -> list[str]:
    names = ("accuracy/merged/anchors", "accuracy/merged/probability-ensemble", "accuracy/clients", "accuracy/probe")
    peaks = [max(study.curve(label, s, "accuracy/merged", None)) for s in study.seeds]
    lam = [max(study.curve(label, s, "lam", k)) for s in study.seeds for k in study.clients(label, s)]
    bounds = "–"
    if study.curve(label, study.seeds[0], "lam/at_max", 0):
        at = {end: fmean(_shares(study, label, f"lam/at_{end}")) for end in ("min", "max")}
        bounds = f"{100 * at['min']:.0f} % at λmin, {100 * at['max']:.0f} % at λmax"
    figures_ = [percent(study.server(label, name)) for name in names]
    largest = f"{max(lam):.3g}" if lam else "–"
    return [label, percent(study.server(label, "accuracy/merged")), percent(peaks), *figures_, largest, bounds]


def _merged(study: Study, label: str) -> list[str]:
    servers = [Server(merge, "feature-average") for merge in MERGES]
    return [label, *(percent(values) for values in study.fused(label, servers))]


def _shares(study: Study, label: str, name: str) -> list[float]:
    return [v for s in study.seeds for k in study.clients(label, s) for v in study.curve(label, s, name, k)]


def _runs_away(study: Study) -> Claim:
    largest = [max(max(study.curve("V12", s, "lam/last", k)) for k in study.clients("V12", s)) for s in study.seeds]
    told = ", ".join(f"{value:.3g}" for value in largest)
    return Claim("V12's λ passes 10³ on at least one client (each seed)", told, min(largest) > 1e3)


def _drops(study: Study, label: str) -> list[float]:
    """Points from the peak of the merged accuracy to its end, per seed."""
    curves = [study.curve(label, s, "accuracy/merged", None) for s in study.seeds]
    return [100 * (max(curve) - curve[-1]) for curve in curves]


def _by_seed(drops: list[float]) -> str:
    return f"by seed {', '.join(f'{d:.1f}' for d in drops)}"


def _falls(study: Study, label: str) -> list[Claim]:
    drops, claim = _drops(study, label), f"{label}: the plain merged accuracy ends at least 10 points below its peak"
    return [
        Claim(f"{claim}, mean of the seeds", f"{fmean(drops):.1f} points below it", fmean(drops) >= 10),
        Claim(f"{claim}, on every seed", f"{_by_seed(drops)}; lowest point {_trough(study, label)}", min(drops) >= 10),
    ]


def _trough(study: Study, label: str) -> str:
    """How far below the peak before it the merged accuracy ever was."""
    found = []
    for s in study.seeds:
        curve = study.curve(label, s, "accuracy/merged", None)
        found.append(max(100 * (max(curve[: i + 1]) - value) for i, value in enumerate(curve)))
    return ", ".join(f"−{d:.1f}" for d in found)


def _holds(study: Study, label: str) -> Claim:
    moves = {}
    for name in ("accuracy/clients", "accuracy/probe"):
        curves = [study.curve(label, s, name, None) for s in study.seeds]
        moves[name] = min(100 * (curve[-1] - max(curve)) for curve in curves)
    told = ", ".join(f"{name.split('/')[1]} at most {-move:.1f} below their peak" for name, move in moves.items())
    return Claim(
        f"{label}: meanwhile clients and probe hold (within 3 points of their peak)", told, min(moves.values()) >= -3
    )


def _harmless(study: Study, label: str) -> list[Claim]:
    drops, claim = _drops(study, label), f"{label}: the merged accuracy ends within 3 points of its peak"
    return [
        Claim(f"{claim}, mean of the seeds", f"{fmean(drops):.1f} points below it", fmean(drops) <= 3),
        Claim(f"{claim}, on every seed", _by_seed(drops), max(drops) <= 3),
    ]


def _floor(study: Study, label: str) -> Claim:
    off = []
    for s in study.seeds:
        for k in study.clients(label, s):
            lam, base, align = (study.curve(label, s, name, k) for name in ("lam", "loss/base", "loss/align"))
            off.append(lam[-1] / (base[-1] / (align[-1] + 2 * GAMMA)) - 1)
    within = sum(abs(value) <= 0.1 for value in off)
    told = f"{within} of {len(off)} clients; mean {100 * fmean(off):+.0f} %, largest {100 * max(off, key=abs):+.0f} %"
    return Claim(f"{label}: λ ends within 10 % of L_b/(L_a + 2γ)", told, within == len(off))


def _cap(study: Study) -> Claim:
    largest = max(max(study.curve("V14", s, "lam/last", k)) for s in study.seeds for k in study.clients("V14", s))
    return Claim(f"V14 stays at or below its cap, {CAP}", f"largest λ {largest:.3g}", largest <= CAP)
