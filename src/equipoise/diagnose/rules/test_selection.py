"""The reported result was selected on the test set.

the reported checkpoint was selected by a test metric
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "test-selection",
    severity="warning",
    when=("end",),
    reads=("fact:selected_by",),
    says="the reported checkpoint was chosen by {name}",
    cause="the largest of many noisy test figures is larger than any of them is true",
    remedies=(
        Remedy("choose on a validation split", "data.validation=0.1"),
        Remedy("choose on a validation split, or report the last checkpoint"),
    ),
)
def test_selection(run: Recording, limit: Limits) -> Iterator[Sign]:
    name = str(run.facts["selected_by"])
    if "validation" not in name and name not in {"last", "none"}:
        yield Sign(None, [], {"name": name})
