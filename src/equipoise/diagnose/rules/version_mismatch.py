"""A machine takes no part, because it has other versions than the driver.

an event `version-mismatch` of a machine that did not join afterwards
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "version-mismatch",
    severity="warning",
    when=("live",),
    reads=("fact:machines",),
    sees_all=True,
    says="machine {name} takes no part: {why}",
    cause="other versions of Equipoise or torch may compute other numbers, so their results are not mixed",
    remedies=(Remedy("install the driver's versions on that machine, and start `equipoise join` again"),),
)
def version_mismatch(run: Recording, limit: Limits) -> Iterator[Sign]:
    joined = {str(event.detail.get("machine")) for event in run.events if event.kind == "machine-joined"}
    for event in run.events:
        name = str(event.detail.get("machine"))
        if event.kind == "version-mismatch" and name not in joined:
            yield Sign(None, [event.step or 0], {"name": name, "why": event.detail.get("why", "")})
