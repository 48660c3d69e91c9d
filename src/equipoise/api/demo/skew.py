"""One upload, any skew: accuracy of each method against α, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from equipoise.api.demo.part import CONTROL, Seeds, StoryPart, accuracy, average, between

if TYPE_CHECKING:
    from equipoise.api.sweep import SweepHandle

STUDY = "studies/demo"
AXIS = " partition="
"""In a cell's label, between the method and the splitter."""
FLAT = 0.01
"""Accuracies that differ by less, as shares of one, are called flat."""


def measured(found: SweepHandle) -> StoryPart:
    from equipoise.api.demo.cells import accuracies, uploads

    heads = {place.cell.label: _head(place.cell.config.partition.model_dump()) for place in found.places}
    curves: dict[str, dict[str, Seeds]] = {}
    sizes: dict[str, float] = {}
    sent = uploads(found)
    for label, values in accuracies(found).items():
        method = label.partition(AXIS)[0]
        curves.setdefault(method, {})[heads[label]] = values
        sizes[method] = max(sizes.get(method, 0.0), sent[label])
    return told(curves, sizes)


def _head(partition: Mapping[str, object]) -> str:
    return f"α {partition['alpha']}" if "alpha" in partition else str(partition["name"])


def told(curves: Mapping[str, Mapping[str, Seeds]], sizes: Mapping[str, float]) -> StoryPart:
    """`curves`: method → skew, from strong to weak → seed → accuracy; `sizes`: method → bytes up."""
    from equipoise.report.bytes import bytes_text

    figures = {method: {at: average(seeds) for at, seeds in curve.items()} for method, curve in curves.items()}
    heads = list(next(iter(figures.values())))
    clauses = [_clause(method, {at: each.mean for at, each in curve.items()}) for method, curve in figures.items()]
    return StoryPart(
        name="skew",
        says=f"Accuracy from {heads[0]} to {heads[-1]}: {'; '.join(clauses)}.",
        numbers=[
            {"method": method, "accuracy": {at: asdict(each) for at, each in curve.items()}, "bytes_up": sizes[method]}
            for method, curve in figures.items()
        ],
        columns=["method", *heads, "sent up"],
        rows=[
            [method, *(accuracy(curve[at]) for at in heads), bytes_text(sizes[method])]
            for method, curve in figures.items()
        ],
    )


def _clause(method: str, curve: Mapping[str, float]) -> str:
    """What happens to the method as skew grows; the last entry is without skew."""
    name = f"the {method}" if method == CONTROL else method
    without, low, high = list(curve.values())[-1], min(curve.values()), max(curve.values())
    if high - low < FLAT:
        return f"{name} is flat, {between([low, high])}"
    if without - low >= FLAT:
        return f"{name} falls from {100 * without:.1f} to {100 * low:.1f} %"
    return f"{name} is not flat, {between([low, high])}"
