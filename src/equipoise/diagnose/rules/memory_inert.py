"""The memory has no effect.

scores with and without memory differ by less than `effect`,   or   share of the history written > most or < least
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "memory-inert",
    severity="warning",
    when=("live",),
    reads=("memory/effect|memory/write_rate",),
    limits=(
        Limit("effect", 1e-06, "change of scores below which memory has no effect"),
        Limit("most", 0.95, "share of the history above which everything is written"),
        Limit("least", 0.01, "share of the history below which nothing is written"),
    ),
    says={
        "effect": "memory changes scores by {effect:.2g} ({when})",
        "rate": "{rate:.1%} of the history is written down ({when})",
    },
    cause="the threshold lets everything in or nothing, or nobody reads what was written",
    remedies=(Remedy("set the threshold so that a tenth to a half of the history is remembered"),),
)
def memory_inert(run: Recording, limit: Limits) -> Iterator[Sign]:
    effect, rate = run.mean("memory/effect"), run.mean("memory/write_rate")
    if len(effect) and float(effect.values.max()) < limit["effect"]:
        yield Sign(None, effect.steps.tolist(), {"effect": float(effect.values.max())}, "effect")
    elif len(rate) and not limit["least"] <= (mean := float(rate.values[-3:].mean())) <= limit["most"]:
        yield Sign(None, rate.steps[-3:].tolist(), {"rate": mean}, "rate")
