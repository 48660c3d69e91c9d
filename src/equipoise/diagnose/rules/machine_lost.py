"""A machine of the federation was lost, or came too late.

a machine was lost at its work, or a step ended without it, at more than `share` of the steps
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "machine-lost",
    severity="warning",
    when=("live",),
    reads=("fact:machines",),
    sees_all=True,
    limits=(Limit("share", 0.0, "share of the steps so far that must show it"),),
    says="machine {name} was lost or late at {n:.0f} of {steps:.0f} checkpoints ({when})",
    cause="its process ended, its network broke, or its clients need longer than the deadline",
    remedies=(
        Remedy("start `equipoise join` on that machine again; or a longer server.deadline, if it was only late"),
    ),
)
def machine_lost(run: Recording, limit: Limits) -> Iterator[Sign]:
    at: dict[str, set[int]] = defaultdict(set)
    for event in run.events:
        if event.step is None:
            continue
        if event.kind == "machine-lost":
            at[str(event.detail["machine"])].add(event.step)
        elif event.kind == "ended-by-quorum":
            for name in event.detail["machines"]:
                at[str(name)].add(event.step)
    steps = run.last + 1
    for name, lost in sorted(at.items(), key=lambda item: -len(item[1])):
        if len(lost) > limit["share"] * steps:
            yield Sign(None, sorted(lost), {"name": name, "n": len(lost), "steps": steps})
