"""The learned σ oscillates.

    Δ log λ changes its sign, with both changes larger than `change`, at more than `share` of the checkpoints

Source: original report 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


def slower(run: Recording, config: Mapping[str, Any]) -> dict[str, Any]:
    """Reduces the learning rate of σ to a tenth."""
    sigma = config["balance"].get("sigma")
    return {"balance.sigma.lr": sigma["lr"] / 10} if sigma else {}


@Rule(
    "sigma-unstable",
    severity="warning",
    when=("live",),
    reads=("lam",),
    limits=(
        Limit("share", 0.6, "share of the checkpoints at which λ turns round"),
        Limit("change", 0.1, "smallest |Δ log λ| that counts as a move"),
        Limit("checkpoints", 5, "fewer checkpoints are not judged"),
    ),
    says="λ turned round at {share:.0%} of the checkpoints on {who} ({when})",
    cause="σ takes steps as large as the network's, overshoots its fixed point and comes back",
    remedies=(
        Remedy("give σ its own learning rate, a hundredth of the network's", "balance.sigma.lr=0.0005"),
        Remedy("let σ learn slower"),
    ),
    heal=slower,
)
def sigma_unstable(run: Recording, limit: Limits) -> Iterator[Sign]:
    found = []
    for lam in run.clients("lam"):
        if len(lam) < limit["checkpoints"] or (lam.values <= 0).any():
            continue
        change = np.diff(np.log(lam.values))
        turns = (change[1:] * change[:-1] < 0) & (np.minimum(abs(change[1:]), abs(change[:-1])) > limit["change"])
        if turns.mean() > limit["share"]:
            found.append(Sign(lam.client, lam.steps[1:-1][turns].tolist(), {"share": float(turns.mean())}))
    yield from sorted(found, key=lambda sign: -float(sign.numbers["share"]))
