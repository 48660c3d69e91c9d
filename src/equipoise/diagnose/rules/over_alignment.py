"""Alignment dominates and the local task suffers.

    λ·L_a > share · L_b on average over the last half,   and
    local accuracy or the probe at the end is `points` or more below the reference run

The rule needs a reference run (`--against RUN`, or `none` in the same sweep), because a large λ·L_a alone is no
failure. Source: original report 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "over-alignment",
    severity="warning",
    when=("end",),
    reads=("lam/used|lam", "loss/base", "loss/align", "accuracy/clients|accuracy/test|accuracy/probe", "reference"),
    limits=(
        Limit("share", 0.8, "λ·L_a over L_b, mean of the last half"),
        Limit("points", 0.03, "accuracy lost against the reference, as a share of one"),
    ),
    says={
        "local": "λ·L_a is {share:.2f} of L_b on {who}; the clients' own accuracy ends {lost:.1f} points below {than}",
        "probe": "λ·L_a is {share:.2f} of L_b on {who}; the probe ends {lost:.1f} points below {than}",
    },
    cause="alignment has more pull than the local task, so features serve the anchors and not the classes",
    remedies=(
        Remedy("lower λ", "balance=entropy"),
        Remedy("a small constant λ", "balance=constant balance.lam=0.1"),
        Remedy("lower λ, or let its σ learn a hundred times slower than the network"),
    ),
    explains=("peak-then-collapse",),
)
def over_alignment(run: Recording, limit: Limits) -> Iterator[Sign]:
    assert run.reference is not None
    losses = {form: _end(mine) - _end(its) for form, mine, its in _pairs(run, run.reference) if len(mine) and len(its)}
    if not losses:
        return
    form, gain = min(losses.items(), key=lambda item: item[1])
    if gain > -limit["points"]:
        return
    used = "lam/used" if run.clients("lam/used") else "lam"
    found = []
    for lam in run.clients(used):
        assert lam.client is not None
        share = _share(lam, run.of("loss/align", lam.client), run.of("loss/base", lam.client), run.steps // 2)
        if share > limit["share"]:
            numbers: dict[str, float | str] = {"share": share, "lost": -100 * gain, "than": run.reference.name}
            found.append(Sign(lam.client, lam.since(run.steps // 2).steps.tolist(), numbers, form))
    yield from sorted(found, key=lambda sign: -float(sign.numbers["share"]))


def _pairs(run: Recording, other: Recording) -> Iterator[tuple[str, Curve, Curve]]:
    yield "local", run.local, other.local
    yield "probe", run.server("accuracy/probe"), other.server("accuracy/probe")


def _end(curve: Curve) -> float:
    """The mean of the last three checkpoints."""
    return float(curve.values[-3:].mean())


def _share(lam: Curve, align: Curve, base: Curve, since: int) -> float:
    parts = [curve.since(since).values for curve in (lam, align, base)]
    n = min(map(len, parts))
    if n == 0:
        return 0.0
    weight, pull, task = (part[-n:] for part in parts)
    return float(np.mean(weight * pull)) / max(float(np.mean(task)), 1e-12)
