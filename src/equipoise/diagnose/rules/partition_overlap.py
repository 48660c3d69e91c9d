"""Clients share samples.

    Σ n_k > N,   or   some samples belong to several clients

If the splitter overlaps by design, the overlap was asked for and is a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "partition-overlap",
    severity="error",
    when=("start",),
    reads=("fact:overlap|fact:owned", "fact:overlap|fact:samples"),
    says={
        "share": "{overlap:.1%} of the samples belong to several clients",
        "total": "clients hold {owned:.0f} samples of {samples:.0f}",
    },
    cause="a splitter that draws for one client after another without taking away what was drawn",
    remedies=(
        Remedy("a splitter that gives every sample to one client", "partition=dirichlet"),
        Remedy("say beside every figure that clients share samples"),
    ),
    explains=("partition-not-as-asked",),
)
def partition_overlap(run: Recording, limit: Limits) -> Iterator[Sign]:
    overlap, asked = run.facts.get("overlap"), run.facts.get("overlap_asked")
    if overlap is not None and float(overlap) > 0:
        yield Sign(None, [], {"overlap": float(overlap)}, "share", "note" if asked else None)
    elif overlap is None and float(run.facts["owned"]) > float(run.facts["samples"]):
        yield Sign(None, [], {name: float(run.facts[name]) for name in ("owned", "samples")}, "total")
