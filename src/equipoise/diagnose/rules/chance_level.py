"""A result that equals chance.

    |metric − chance| < errors · √(chance·(1 − chance)/n)   at the end

n is the number of test images or users. Accuracy's chance is 1/C; a ranking records its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "chance-level",
    severity="warning",
    when="end",
    reads=("accuracy/merged|accuracy/clients|hr@10/full|hr@10/uni100", "fact:tested"),
    says="{name} is {value:.2%} ± {error:.2%}, and chance is {chance:.2%}",
    cause="nothing was learnt, or what was learnt is lost on the way to the merged model",
    remedy="see the other findings; without one, train longer or check the labels",
)
def chance_level(run: Recording, limit: Limits) -> Iterator[Sign]:
    for name, curve, chance in _results(run):
        error = sqrt(chance * (1 - chance) / float(run.facts["tested"]))
        value = float(curve.values[-1])
        if value < chance + limit["errors"] * error:
            numbers: dict[str, float | str] = {"name": name, "value": value, "error": error, "chance": chance}
            yield Sign(None, [int(curve.steps[-1])], numbers)


def _results(run: Recording) -> Iterator[tuple[str, Curve, float]]:
    if run.facts.get("classes") is not None:
        name = "accuracy/merged" if len(run.server("accuracy/merged")) else "accuracy/clients"
        if len(curve := run.server(name)):
            yield name, curve, 1 / float(run.facts["classes"])
    for name in ("hr@10/full", "hr@10/uni100"):
        curve, chance = run.server(name), run.server(f"{name}/chance")
        if len(curve) and len(chance):
            yield name, curve, float(chance.values[-1])
