"""The learned weight λ grows without bound.

    x = log(λ·s):   Δx > slope for `checkpoints` checkpoints in a row while L_a falls,
                    or λ·s > growth · its first value and rising;
                    and x has its maximum in the second half of the recorded checkpoints
    silent while λ ≤ a declared λmax, and while λ·s ≤ settled · L_b/L_a of the first batch, where a learned λ settles;
    s = 1 if no schedule is recorded

λ rises because its fixed point is of the form L_b/L_a: the better the prototypes are aligned, the more weight alignment
gets. The rule looks at λ·s rather than λ, because a λ that only compensates its schedule is another failure. A λ that
overshoots on its way to the fixed point has its maximum early and is not named.

Long runs are averaged to fifty parts. If λ·s has its maximum in the last fifty checkpoints, these are also examined one
by one, so that a late runaway is seen.
Source: original report 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.noise import coarse
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule
from equipoise.diagnose.rules.ensemble_collapse import listening

PARTS = 50


def ceiling(run: Recording, config: Mapping[str, Any]) -> dict[str, Any]:
    """Limits a learned λ to its first value, the median over clients.

    By now the prototypes have different lengths, so a one-shot run also switches to another predictor.
    """
    if "sigma" not in config["balance"]:
        return {}
    first = float(np.median([lam.values[0] for lam in run.clients("lam")]))
    return {"balance.ceiling": first, **listening(run, config)}


@Rule(
    "lambda-runaway",
    severity="error",
    when=("live",),
    reads=("lam",),
    limits=(
        Limit("slope", 0.35, "rise of log(λ·s) from one checkpoint to the next that counts"),
        Limit("checkpoints", 2, "rises in a row that make a runaway"),
        Limit("growth", 10.0, "λ·s over its first value that makes a runaway"),
        Limit("settled", 2.0, "silent up to this multiple of L_b/L_a of the first batch"),
    ),
    says="λ went from {first:.3g} to {last:.3g} on {who} ({when})",
    cause="a learned λ has no ceiling: the closer L_a comes to zero, the more weight alignment is given",
    remedies=(
        Remedy(
            "bound λ from both sides, and start prototypes at the anchors", "balance=equilibrium method.start=anchor"
        ),
        Remedy("bound λ from both sides", "balance=equilibrium"),
        Remedy("bound λ from both sides, or start prototypes at the anchors and keep them at unit length"),
    ),
    heal=ceiling,
    explains=("ensemble-collapse", "peak-then-collapse", "merge-below-client", "over-alignment", "bound-exceeded"),
)
def lambda_runaway(run: Recording, limit: Limits) -> Iterator[Sign]:
    bound, balanced = (run.facts.get(name) or 0.0 for name in ("lam_max", "balanced"))
    found = []
    for lam in run.clients("lam"):
        assert lam.client is not None
        schedule, align = (run.of(name, lam.client) for name in ("schedule", "loss/align"))
        for part in _views(lam, schedule, align):
            free = (part.lam.values > bound) & (part.used > limit["settled"] * balanced)
            runs = _running(part.used, part.align, limit) & free
            if runs.any():
                numbers = {"first": float(lam.values[0]), "last": float(lam.values[-1])}
                found.append(Sign(lam.client, part.lam.steps[runs].tolist(), numbers))
                break
    yield from sorted(found, key=lambda sign: -float(sign.numbers["last"]))


class _View(NamedTuple):
    """λ, λ·s and L_a over the same checkpoints."""

    lam: Curve
    used: np.ndarray
    align: Curve


def _views(lam: Curve, schedule: Curve, align: Curve) -> Iterator[_View]:
    """The whole run in parts, and its last checkpoints in full if λ·s has its maximum there."""
    yield _view(*(coarse(curve, PARTS) for curve in (lam, schedule, align)))
    if len(lam) > PARTS:
        whole, since = _view(lam, schedule, align), int(lam.steps[-PARTS])
        if int(np.argmax(whole.used)) >= len(lam) - PARTS:
            yield _view(lam.since(since), schedule.since(since), align.since(since))


def _view(lam: Curve, schedule: Curve, align: Curve) -> _View:
    s = schedule.values if len(schedule) == len(lam) else np.ones(len(lam))
    return _View(lam, lam.values * s, align)


def _running(used: np.ndarray, align: Curve, limit: Limits) -> np.ndarray:
    """The checkpoints at which λ·s runs away."""
    x = np.log(np.maximum(used, 1e-300))
    rises = np.diff(x, prepend=x[:1])
    falls = np.diff(align.values, prepend=np.inf) < 0 if len(align) == len(x) else np.ones(len(x), dtype=bool)
    on_end = np.zeros(len(x), dtype=int)
    for t in range(1, len(x)):
        on_end[t] = on_end[t - 1] + 1 if rises[t] > limit["slope"] and falls[t] else 0
    far = (x - x[0] > np.log(limit["growth"])) & (rises > 0)
    is_late = 2 * int(np.argmax(x)) >= len(x) - 1
    running: np.ndarray = ((on_end >= limit["checkpoints"]) | far) & is_late
    return running
