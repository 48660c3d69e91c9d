"""An expert gets no useful signal.

    branch gradient / backbone gradient < grad   and   parameter movement ratio < move,
    or   share of the output < share

All are means after the first `after` of the run, over at least `checkpoints` checkpoints, because a branch that starts
from zero contributes little at first. The gradient alone is no evidence: Adam moves weights by the same amount however
small their gradient is.
Source: original report 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "starved-branch",
    severity="warning",
    when=("live",),
    reads=("branch/*/grad", "branch/*/move|branch/*/share"),
    limits=(
        Limit("grad", 0.01, "gradient of the branch over the backbone's"),
        Limit("move", 0.1, "movement of the branch over the backbone's"),
        Limit("share", 0.1, "share of the branch in the output"),
        Limit("after", 0.25, "share of the run that is left out at the start"),
        Limit("checkpoints", 3, "fewer checkpoints are not judged"),
    ),
    says={
        "still": "branch {branch} gets {grad:.2g} of the backbone's gradient and moves {move:.2g} as far ({when})",
        "silent": "branch {branch} makes up {share:.1%} of the output ({when})",
    },
    cause="a small gate in front of the branch multiplies its output and, on the way back, its gradient; "
    "or the branch started from zero and has learnt little since",
    remedies=(
        Remedy("remove the gate, and let the branch's last layer start from zero", "model.fusion=zero"),
        Remedy("train for longer: the branch's last layer starts from zero already"),
    ),
    explains=("chance-level", "router-collapse"),
)
def starved_branch(run: Recording, limit: Limits) -> Iterator[Sign]:
    for name in run.names("branch/*/grad"):
        branch = name.split("/")[1]
        grad, move, share = (run.mean(f"branch/{branch}/{part}") for part in ("grad", "move", "share"))
        late = ceil(limit["after"] * run.steps)
        steps = grad.since(late).steps.tolist()
        if len(steps) < limit["checkpoints"]:
            continue
        if _late(grad, late) < limit["grad"] and _late(move, late) < limit["move"]:
            yield Sign(None, steps, {"branch": branch, "grad": _late(grad, late), "move": _late(move, late)}, "still")
        elif _late(share, late) < limit["share"]:
            yield Sign(None, steps, {"branch": branch, "share": _late(share, late)}, "silent")


def _late(curve: Curve, since: int) -> float:
    """The mean from that checkpoint on; infinite if nothing is recorded, so that no limit is undercut."""
    values = curve.since(since).values
    return float(np.mean(values)) if len(values) else float("inf")
