"""The second stage overwrites what the first one learnt.

L_a fell below learnt · its start in stage one,   and   returns above returns · its start within `within` of stage two
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "forgetting-signal",
    severity="warning",
    when=("live",),
    reads=("loss/align", "fact:stage_switch"),
    limits=(
        Limit("returns", 0.8, "L_a over its start that counts as back"),
        Limit("within", 0.2, "share of the second stage within which it returns"),
        Limit("learnt", 0.6, "L_a over its start that counts as learnt in the first stage"),
    ),
    says="L_a fell from {start:.3g} to {best:.3g} in the first stage and is back at {back:.3g} on {who} ({when})",
    cause="the second stage no longer asks for what the first one taught",
    remedies=(
        Remedy("keep the term in the second stage, with a weight that grows", "balance=curriculum"),
        Remedy(
            "train both stages as one, the contrast with a weight that grows", "method=public-bank balance=curriculum"
        ),
        Remedy("keep the term in the second stage, with a lower weight"),
    ),
)
def forgetting_signal(run: Recording, limit: Limits) -> Iterator[Sign]:
    switch = int(run.facts["stage_switch"])
    until = switch + max(1, ceil(limit["within"] * (run.steps - switch))) - 1
    for align in run.clients("loss/align"):
        first, second = align.until(switch - 1), align.since(switch).until(until)
        if not len(first) or not len(second):
            continue
        start, best, back = float(first.values[0]), float(first.values.min()), float(second.values.max())
        if best < limit["learnt"] * start and back > limit["returns"] * start:
            yield Sign(align.client, second.steps.tolist(), {"start": start, "best": best, "back": back})
