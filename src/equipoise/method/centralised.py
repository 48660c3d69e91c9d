"""Centralised: one client holds all data. The upper bound that federation is compared with.

base = cls        align = 0        λ = 0        merge = its one model        predict = that model
"""

from __future__ import annotations

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import ANY_DATA, POOLS_DATA
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method


@METHODS.register(
    "centralised", aliases=("centralized", "central"), options=MethodOptions, traits=(ANY_DATA, POOLS_DATA)
)
def centralised(options: MethodOptions) -> Method:
    return Method(exchange=Exchange(down=False), pools_data=True)
