"""FAFI (V4): four local terms on two views, prototypes as the head, features averaged on the server.

base = cls + con + pf + pp        align = 0        λ = 0
merge = mean by samples, prototypes plain        predict = feature-average
"""

from __future__ import annotations

from equipoise.config.traits import PROTOTYPES
from equipoise.core.registry import METHODS
from equipoise.method.answers import BY_CONFIGURATION, Method
from equipoise.method.prototype import PrototypeOptions, four_terms, prototype_head


class FafiOptions(PrototypeOptions):
    name: str = "fafi"


@METHODS.register("fafi", aliases=("v4",), options=FafiOptions, traits=(PROTOTYPES,))
def fafi(options: FafiOptions) -> Method:
    from equipoise.objective.compose import objective

    return Method(
        objective=objective(four_terms(options)),
        merge=BY_CONFIGURATION,
        predict="feature-average",
        head=prototype_head(options),
        stacks=True,
    )
