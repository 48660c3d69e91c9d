"""The learned λ cancels its schedule.

    over some stretch of at least `checkpoints` checkpoints in which s moves by a factor of `moves` or more:
    corr(log λ, −log s) > correlation   and   λ·s within ± band of its mean,
    and L_b/L_a, if recorded, explains at most `explained` of the rise of log λ

It must hold for more than `clients` of the clients, because it is a property of the policy: one client's λ may rise
like 1/s by chance. Long runs are averaged to twenty parts. Source: original report 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.noise import coarse
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

PARTS = 20


@Rule(
    "schedule-fights-learner",
    severity="warning",
    when=("live",),
    reads=("lam", "schedule"),
    limits=(
        Limit("correlation", 0.95, "least correlation of log λ with −log s"),
        Limit("band", 0.25, "largest relative deviation of λ·s from its mean"),
        Limit("checkpoints", 5, "shortest stretch that is looked at"),
        Limit("moves", 3.0, "factor by which s must move within the stretch"),
        Limit("clients", 0.5, "share of clients that must show it"),
        Limit("explained", 0.5, "share of λ's rise that L_b/L_a may explain"),
    ),
    says="λ rose {rise:.3g}-fold while its schedule fell, and λ·s stayed within ±{band:.0%} on {who} ({when})",
    cause="σ learns from losses that are annealed already: its fixed point is λ = c/s, the schedule changes nothing",
    remedies=(
        Remedy("let σ see the losses before the schedule", "balance=decoupled"),
        Remedy("put the schedule on the log term, or leave it out"),
    ),
    explains=("over-alignment", "sigma-unstable", "lambda-runaway"),
)
def schedule_fights_learner(run: Recording, limit: Limits) -> Iterator[Sign]:
    found = []
    for lam in run.clients("lam"):
        assert lam.client is not None
        s = run.of("schedule", lam.client)
        both = np.isin(lam.steps, s.steps[s.values > 0])
        curve = coarse(Curve(lam.client, lam.steps[both], lam.values[both]), PARTS)
        faded = coarse(Curve(lam.client, s.steps[s.values > 0], s.values[s.values > 0]), PARTS)
        if len(curve) == len(faded) and (stretch := _cancelled(curve.values, faded.values, limit)):
            first, end = stretch
            if _explained(run, curve, first, end) > limit["explained"]:
                continue
            product = curve.values[first:end] * faded.values[first:end]
            numbers = {
                "rise": float(curve.values[end - 1] / curve.values[first]),
                "band": float(np.abs(product / product.mean() - 1).max()),
            }
            found.append(Sign(lam.client, curve.steps[first:end].tolist(), numbers))
    if len(found) > limit["clients"] * len(run.clients("lam")):
        yield from sorted(found, key=lambda sign: -float(sign.numbers["rise"]))


def _explained(run: Recording, lam: Curve, first: int, end: int) -> float:
    """The share of λ's rise that L_b/L_a explains: a λ that follows the losses does not fight its schedule."""
    assert lam.client is not None
    base, align = run.of("loss/base", lam.client), run.of("loss/align", lam.client)
    ends = [int(lam.steps[first]), int(lam.steps[end - 1])]
    ratios = [base.at(step) / max(align.at(step), 1e-12) for step in ends]
    rise = float(np.log(lam.values[end - 1] / lam.values[first]))
    return float(np.log(max(ratios[1], 1e-12) / max(ratios[0], 1e-12))) / rise if len(base) and len(align) else 0.0


def _cancelled(lam: np.ndarray, s: np.ndarray, limit: Limits) -> tuple[int, int] | None:
    """The longest stretch in which λ = c/s."""
    if (lam <= 0).any():
        return None
    n, least = len(lam), int(limit["checkpoints"])
    for length in range(n, least - 1, -1):
        for first in range(n - length + 1):
            a, b = np.log(lam[first : first + length]), -np.log(s[first : first + length])
            if np.ptp(b) < np.log(limit["moves"]) or a.std() == 0:
                continue
            product = np.exp(a - b)
            steady = np.abs(product / product.mean() - 1).max() <= limit["band"]
            if steady and np.corrcoef(a, b)[0, 1] > limit["correlation"]:
                return first, first + length
    return None
