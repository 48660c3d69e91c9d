"""A one-shot run that communicated.

the weights at a client's start differ from its weights at the end of the previous checkpoint
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "hidden-broadcast",
    severity="error",
    when=("live",),
    reads=("hash/start", "hash/end", "fact:communication"),
    says="{who} began with a model that is not its own ({when})",
    cause="the server's model went down between two checkpoints of a run that is called one-shot",
    remedies=(
        Remedy("call it rounds, since something goes down", "communication=rounds"),
        Remedy("let every client go on from its own model"),
    ),
)
def hidden_broadcast(run: Recording, limit: Limits) -> Iterator[Sign]:
    if run.facts["communication"] != "one-shot":
        return
    for start in run.clients("hash/start"):
        assert start.client is not None
        end = run.of("hash/end", start.client)
        strange = [int(step) for step in start.steps[1:] if start.at(int(step)) != end.at(int(step) - 1)]
        if strange:
            yield Sign(start.client, strange)
