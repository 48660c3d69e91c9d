"""Batch-norm buffers are lost in averaging.

the merged buffers equal one client's exactly,   or   recalibrating them gains more than `points`
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "batchnorm-not-merged",
    severity="warning",
    when=("live",),
    reads=("hash/buffers|accuracy/recalibrated",),
    limits=(Limit("points", 0.05, "accuracy gained by recalibration, as a share of one"),),
    says={
        "same": "the merged buffers are those of {who} ({when})",
        "gain": "recalibrated buffers gain {gain:.1f} points ({when})",
    },
    cause="running means and variances are not weights, and a merge of parameters leaves them out",
    remedies=(Remedy("average them too, or recalibrate them on a few batches"),),
    explains=("merge-below-client", "chance-level"),
)
def batchnorm_not_merged(run: Recording, limit: Limits) -> Iterator[Sign]:
    merged, clients = run.server("hash/buffers"), run.clients("hash/buffers")
    if len(merged) and len(clients) > 1:
        last = int(merged.steps[-1])
        now = {curve.client: curve.at(last) for curve in clients}
        same = [client for client, value in now.items() if value == merged.values[-1]]
        if same and len(set(now.values())) > 1:
            yield Sign(same[0], [last], form="same")
    fixed, plain = run.server("accuracy/recalibrated"), run.server("accuracy/merged")
    if len(fixed) and len(plain) and (gain := float(fixed.values[-1] - plain.values[-1])) > limit["points"]:
        yield Sign(None, [int(fixed.steps[-1])], {"gain": 100 * gain}, "gain")
