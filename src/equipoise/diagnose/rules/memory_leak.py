"""The memory contains the item to predict.

P(positive in memory) − P(negative in memory) > gap in training but not in test
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "memory-leak",
    severity="error",
    when=("live",),
    reads=("memory/p_positive", "memory/p_negative"),
    limits=(Limit("gap", 0.02, "P(positive in memory) − P(negative in memory)"),),
    says="the item to predict is in memory {positive:.1%} of the time, others {negative:.1%}; in test {test:.1%}",
    cause="the memory was filled from the whole history, the future included",
    remedies=(Remedy("read memory as it stood before the item to predict"),),
    explains=("too-good",),
)
def memory_leak(run: Recording, limit: Limits) -> Iterator[Sign]:
    positive, negative, test = (
        run.mean(name) for name in ("memory/p_positive", "memory/p_negative", "memory/p_positive/test")
    )
    p, n, t = (float(curve.values.mean()) if len(curve) else 0.0 for curve in (positive, negative, test))
    if p - n > limit["gap"] and t - n <= limit["gap"]:
        yield Sign(None, positive.steps.tolist(), {"positive": p, "negative": n, "test": t})
