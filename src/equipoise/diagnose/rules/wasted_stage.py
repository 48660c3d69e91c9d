"""A first stage that leaves the model at chance.

    accuracy at the last checkpoint before the second stage < ratio / C

Source: original report 4.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "wasted-stage",
    severity="warning",
    when=("live",),
    reads=("accuracy/merged|accuracy/clients|accuracy/test", "fact:classes", "fact:stage_switch"),
    limits=(Limit("ratio", 1.2, "accuracy after the first stage over chance"),),
    says="accuracy was {accuracy:.1%} when the second stage began ({when}); chance is {chance:.1%}",
    cause="the first stage teaches features without a task, and what it teaches is of no use to the second",
    remedies=(
        Remedy("train both terms jointly, the contrast with a weight that grows", "balance=curriculum"),
        Remedy(
            "train both stages as one, the contrast with a weight that grows", "method=public-bank balance=curriculum"
        ),
        Remedy("train everything from the start", "client.stages=[]"),
        Remedy("leave the first stage out"),
    ),
    explains=("chance-level",),
)
def wasted_stage(run: Recording, limit: Limits) -> Iterator[Sign]:
    before = int(run.facts["stage_switch"]) - 1
    curve = run.server("accuracy/merged")
    curve = curve if len(curve) else run.local
    accuracy, chance = curve.at(before), 1 / int(run.facts["classes"])
    if run.last >= before and accuracy < limit["ratio"] * chance:
        yield Sign(None, [before], {"accuracy": accuracy, "chance": chance})
