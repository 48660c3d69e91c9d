"""FAFI with a memory bank: the contrast uses features from earlier steps as extra negatives.

base = cls + con + pf + pp, con with a memory of M features as extra negatives        align = 0        λ = 0
merge = mean by samples, prototypes as server.merge says        predict = feature-average
"""

from __future__ import annotations

from pydantic import Field

from equipoise.config.traits import PROTOTYPES
from equipoise.core.registry import METHODS
from equipoise.method.answers import BY_CONFIGURATION, Method
from equipoise.method.prototype import PrototypeOptions, four_terms, prototype_head

MEMORY = "memory"


class MemoryBankOptions(PrototypeOptions):
    name: str = "memory-bank"
    size: int = Field(1024, ge=1, description="M, number of features in the memory bank")


@METHODS.register("memory-bank", options=MemoryBankOptions, traits=(PROTOTYPES,))
def memory_bank(options: MemoryBankOptions) -> Method:
    from equipoise.objective.bank import queue
    from equipoise.objective.compose import objective

    return Method(
        objective=objective(four_terms(options, MEMORY), remember=queue(options.size, MEMORY)),
        merge=BY_CONFIGURATION,
        predict="feature-average",
        head=prototype_head(options),
    )
