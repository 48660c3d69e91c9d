"""A result that only a leak or an error in ranking ties can give.

HR@10 among 100 items, or among all items, > hr
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "too-good",
    severity="warning",
    when=("end",),
    reads=("hr@10/uni100|hr@10/full",),
    limits=(Limit("hr", 0.95, "hit rate at 10 that is too good to be true"),),
    says="{name} is {value:.1%}",
    cause="ties count for the target, the target is in the input, or items met before are not masked alike",
    remedies=(Remedy("rank ties in the middle, and look for the target in histories and memory"),),
)
def too_good(run: Recording, limit: Limits) -> Iterator[Sign]:
    for name in ("hr@10/uni100", "hr@10/full"):
        curve = run.server(name)
        if len(curve) and curve.values[-1] > limit["hr"]:
            yield Sign(None, [int(curve.steps[-1])], {"name": name, "value": float(curve.values[-1])})
