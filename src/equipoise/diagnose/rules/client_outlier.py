"""One client's update dominates, or points against the others.

    robust z of log ‖Δ_k‖ in the cohort, (x − median)/(1.4826·MAD) > z,   and   ‖Δ_k‖ > times · median,
    or cosine to the mean update < cosine;
    at more than `share` of the checkpoints at which the client took part, and at `times_seen` or more of them
    (or all, if the run has fewer): among thousands of updates one is far by chance

Norms are compared as logarithms, because clients of different sizes differ by factors. A client that takes more steps
moves farther; if steps are recorded, it must also be far per step. Clients may be so alike that one is far by any
measure of spread, hence `times`. Fewer than `clients` clients are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

MAD = 1.4826


@Rule(
    "client-outlier",
    severity="warning",
    when=("live",),
    reads=("update/norm|update/cosine",),
    limits=(
        Limit("z", 3.5, "robust z of the log norm"),
        Limit("times", 3.0, "norm over the cohort's median"),
        Limit("cosine", -0.2, "cosine to the mean update"),
        Limit("share", 0.5, "share of the client's checkpoints that must show it"),
        Limit("times_seen", 2, "checkpoints that must show it"),
        Limit("clients", 5, "fewer clients are not judged"),
    ),
    says={
        "norm": "updates of {who} are {z:.1f} deviations longer than the others' ({when})",
        "cosine": "updates of {who} point away from the others', cosine {cosine:.2f} ({when})",
    },
    cause="one client pulls the merge: its data, its learning rate or its intentions are not the others'",
    remedies=(Remedy("look at that client's data; merge robustly, or leave it out"),),
    explains=("ensemble-collapse", "peak-then-collapse"),
)
def client_outlier(run: Recording, limit: Limits) -> Iterator[Sign]:
    norms, needed = run.clients("update/norm"), min(limit["times_seen"], run.last + 1)

    def is_usual(far: np.ndarray) -> bool:
        return bool(far.sum() >= needed and far.mean() > limit["share"])

    if len(norms) >= limit["clients"]:
        for curve, (z, ratio), (z_step, ratio_step) in zip(norms, _scores(norms), _scores(_per_step(run)), strict=True):
            far = (np.minimum(z, z_step) > limit["z"]) & (np.minimum(ratio, ratio_step) > limit["times"])
            if is_usual(far):
                yield Sign(curve.client, curve.steps[far].tolist(), {"z": float(np.median(z[far]))}, "norm")
    for curve in run.clients("update/cosine"):
        if is_usual(against := curve.values < limit["cosine"]):
            numbers = {"cosine": float(np.median(curve.values[against]))}
            yield Sign(curve.client, curve.steps[against].tolist(), numbers, "cosine")


def _per_step(run: Recording) -> list[Curve]:
    """Norms per local step; plain norms if steps are not recorded."""
    found = []
    for curve in run.clients("update/norm"):
        assert curve.client is not None
        steps = run.of("steps", curve.client)
        known = len(steps) == len(curve)
        found.append(Curve(curve.client, curve.steps, curve.values / np.maximum(steps.values, 1)) if known else curve)
    return found


def _scores(curves: list[Curve]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each curve's robust z and its ratio to the median, among clients with the same checkpoint."""
    steps = np.concatenate([curve.steps for curve in curves])
    x = np.log(np.maximum(np.concatenate([curve.values for curve in curves]), 1e-300))
    _, place = np.unique(steps, return_inverse=True)
    middle = _medians(x, place)
    spread = np.maximum(MAD * _medians(abs(x - middle[place]), place), 1e-12)
    z, ratio = (x - middle[place]) / spread[place], np.exp(x - middle[place])
    cuts = np.cumsum([len(curve) for curve in curves])[:-1]
    return list(zip(np.split(z, cuts), np.split(ratio, cuts), strict=True))


def _medians(x: np.ndarray, place: np.ndarray) -> np.ndarray:
    order = np.lexsort((x, place))
    counts = np.bincount(place)
    ends = np.cumsum(counts)
    low, high = ends - counts + (counts - 1) // 2, ends - counts + counts // 2
    middle: np.ndarray = (x[order][low] + x[order][high]) / 2
    return middle
