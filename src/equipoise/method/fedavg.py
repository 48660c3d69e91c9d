"""FedAvg: train locally, average the weights.

base = cls        align = 0        λ = 0        merge = mean by samples        predict = the merged model
"""

from __future__ import annotations

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import ANY_DATA
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method


@METHODS.register("fedavg", options=MethodOptions, traits=(ANY_DATA,))
def fedavg(options: MethodOptions) -> Method:
    return Method()
