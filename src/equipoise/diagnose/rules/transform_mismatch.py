"""Inputs are normalised differently in training and in evaluation.

|mean of train − mean of eval| > deviations · std of eval,   or   |std of train / std of eval − 1| > deviations
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "transform-mismatch",
    severity="warning",
    when=("start",),
    reads=("input/mean/train", "input/mean/eval", "input/std/train", "input/std/eval"),
    limits=(Limit("deviations", 0.5, "difference of means in deviations, and of deviations relative to each other"),),
    says="inputs of training have mean {train:.3f} ± {spread:.3f}, of evaluation {eval:.3f} ± {other:.3f}",
    cause="training and evaluation normalise differently",
    remedies=(Remedy("normalise in one place, for both"),),
    explains=("chance-level",),
)
def transform_mismatch(run: Recording, limit: Limits) -> Iterator[Sign]:
    train, evaluated, spread, other = (
        float(_of(run, f"input/{what}/{where}"))
        for what, where in (("mean", "train"), ("mean", "eval"), ("std", "train"), ("std", "eval"))
    )
    far = abs(train - evaluated) > limit["deviations"] * max(other, 1e-12)
    if far or abs(spread / max(other, 1e-12) - 1) > limit["deviations"]:
        yield Sign(None, [], {"train": train, "eval": evaluated, "spread": spread, "other": other})


def _of(run: Recording, name: str) -> float:
    curve = run.server(name)
    curve = curve if len(curve) else run.mean(name)
    return float(curve.values.mean())
