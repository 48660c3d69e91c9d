"""What accuracy costs in bytes: the closed form on all of CIFAR-10, with ways to send less."""

from __future__ import annotations

from statistics import fmean

from scripts.study import figures
from scripts.study.page import table
from scripts.study.read import Study, percent

TITLE = "Accuracy and bytes of one upload in closed form: CIFAR-10, five clients, α 0.05"
N_CLIENTS, RAW = 5, 45_000 * 32 * 32 * 3
"""RAW: bytes of all clients' images as they are stored; the fifth part is a client's."""


def parts(study: Study) -> list[str]:
    rows = [
        [label, percent(study.server(label, "accuracy/merged")), f"{_sent(study, label):.1f}", _beside(study, label)]
        for label in study.labels
    ]
    points = {label: (_sent(study, label), fmean(study.server(label, "accuracy/merged"))) for label in study.labels}
    return [
        table(["", "accuracy", "MB up, a client", "of its images' bytes"], rows),
        figures.scattered(points, RAW / N_CLIENTS / 1e6, "figures/upload.svg"),
    ]


def _sent(study: Study, label: str) -> float:
    """Megabytes that a client sends, on average."""
    return fmean(study.server(label, "bytes/up")) / N_CLIENTS / 1e6


def _beside(study: Study, label: str) -> str:
    return f"{_sent(study, label) / (RAW / N_CLIENTS / 1e6):.2f} ×"
