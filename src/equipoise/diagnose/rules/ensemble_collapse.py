"""The merged model falls while the clients are fine.

    drop = best two-checkpoint mean of merged accuracy so far − the better of the last two checkpoints
    drop > max(merged, jitters · jitter)   while the clients' own accuracy fell by less than `local` since that peak

Two checkpoints are used because a single one of a merged model is noisy. The finding also mentions prototypes whose
lengths differ by a factor of `norms` or more. Source: original report 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.noise import jitter, smooth
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy, better_server
from equipoise.diagnose.rule import Limit, Limits, Rule

PAIR = 2


def listening(run: Recording, config: Mapping[str, Any]) -> dict[str, Any]:
    """Switches a one-shot run to the recorded predictor with the best validation accuracy; clients stay as they are.

    The previous predictor stays recorded, so that the change is not mistaken for better clients.
    """
    server = better_server(run) if config["communication"] == "one-shot" else None
    return {} if server is None else {"server.predict": server}


@Rule(
    "ensemble-collapse",
    severity="error",
    when=("live",),
    reads=("accuracy/merged", "accuracy/clients|accuracy/test"),
    limits=(
        Limit("merged", 0.05, "drop of merged accuracy, as a share of one"),
        Limit("local", 0.02, "drop of the clients' own accuracy that is still small"),
        Limit("jitters", 1.0, "the drop must exceed this many jitters of the curve"),
        Limit("norms", 2.0, "ratio of prototype lengths that is worth mentioning"),
    ),
    says={
        "plain": "merged accuracy fell by {lost:.1f} points to {now:.1%}, the clients' own moved {local:+.1f} ({when})",
        "norms": "merged accuracy fell by {lost:.1f} points to {now:.1%}, the clients' own moved {local:+.1f} ({when});"
        " their prototypes differ {ratio:.3g}-fold in length",
    },
    cause="clients no longer agree on what is averaged; where their prototypes differ in length, one speaks for all",
    remedies=(
        Remedy(
            "merge prototypes at unit length, and start them at the anchors", "server.merge=unit method.start=anchor"
        ),
        Remedy(
            "a server that hears whom the image looks like: of those recorded, {server} is best on validation",
            "server.predict={server}",
        ),
        Remedy("stop before clients drift apart; the findings beside this one say why they do"),
    ),
    heal=listening,
    explains=("peak-then-collapse", "merge-below-client", "class-blind"),
)
def ensemble_collapse(run: Recording, limit: Limits) -> Iterator[Sign]:
    merged, local = run.server("accuracy/merged"), run.local
    if len(merged) <= PAIR or len(local) == 0:
        return
    means, steps = smooth(merged.values, PAIR), merged.steps[PAIR - 1 :]
    peak = int(np.argmax(means))
    lost = float(means[peak] - merged.values[-PAIR:].max())
    if lost <= max(limit["merged"], limit["jitters"] * jitter(merged.values)):
        return
    moved = local.at(int(steps[-1])) - local.at(int(steps[peak]))
    if moved > -limit["local"]:
        low = steps[peak:][means[peak:] < means[peak] - limit["merged"]]
        numbers = {"lost": 100 * lost, "now": float(means[-1]), "local": 100 * moved}
        norms = run.server("proto/norm_ratio")
        if len(norms) and norms.values[-1] > limit["norms"]:
            yield Sign(None, low.tolist(), numbers | {"ratio": float(norms.values[-1])}, "norms")
        else:
            yield Sign(None, low.tolist(), numbers, "plain")
