"""Local only: clients share nothing. The figure is the mean of the clients' own models on the common test set.

base = cls        align = 0        λ = 0        merge = none        predict = none
"""

from __future__ import annotations

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import ANY_DATA, MERGES_NOTHING
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method


@METHODS.register("local-only", aliases=("local",), options=MethodOptions, traits=(ANY_DATA, MERGES_NOTHING))
def local_only(options: MethodOptions) -> Method:
    from equipoise.server.merge import keep

    return Method(merge=keep, predict=None, exchange=Exchange(down=False, up=False))
