"""The merged model is worse than its parts.

    merged < best single client,   or   merged < probability ensemble − points
    while accuracy of the probe > merged + probe

The probe is a head that the evaluator fits on the features of all encoders. It does not depend on the server's merge.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy, is_one_shot
from equipoise.diagnose.rule import Limit, Limits, Rule

ENSEMBLE = "accuracy/merged/probability-ensemble"


@Rule(
    "merge-below-client",
    severity="note",
    when=("end",),
    reads=("accuracy/merged", f"accuracy/best_client|{ENSEMBLE}", "accuracy/probe"),
    limits=(
        Limit("points", 0.05, "margin by which the ensemble must be better"),
        Limit("probe", 0.1, "margin by which the probe must be better"),
    ),
    says={
        "client": "merged {merged:.1%}, the best single client {other:.1%}, probe {probe:.1%}",
        "ensemble": "merged {merged:.1%}, the clients' ensemble {other:.1%}, probe {probe:.1%}",
    },
    cause="clients learnt more than this way of merging can use",
    remedies=(
        Remedy(
            "another server, not another policy: `equipoise fuse {run} --predict {server}`, the best on validation",
            "server.predict={server}",
            is_one_shot,
        ),
        Remedy(
            "another server, not another policy: of those recorded, {server} is best on validation",
            "server.predict={server}",
        ),
        Remedy("another way to merge the same clients, not another policy"),
    ),
)
def merge_below_client(run: Recording, limit: Limits) -> Iterator[Sign]:
    merged, probe = run.server("accuracy/merged"), run.server("accuracy/probe")
    if not len(merged) or not len(probe):
        return
    now, head = float(merged.values[-1]), float(probe.values[-1])
    beside = {"client": ("accuracy/best_client", 0.0), "ensemble": (ENSEMBLE, limit["points"])}
    for form, (name, margin) in beside.items():
        other = run.server(name)
        if len(other) and now < other.values[-1] - margin and head > now + limit["probe"]:
            numbers = {"merged": now, "other": float(other.values[-1]), "probe": head}
            yield Sign(None, [int(merged.steps[-1])], numbers, form)
            return
