"""Ditto: beside the common model every client trains one of its own, held near the common one.

base = cls(v) + cls(w)        align = ½‖v − w_t‖²        λ = the balance block
merge = mean by samples, of w        predict = none: every client's own v is the result
Source: Li et al., "Ditto: Fair and Robust Federated Learning Through Personalization", 2021. Both learn in one pass;
v is held to what the server sent, so neither sees the other. A policy that scales base scales w's loss, too, and
client.clip is of both gradients together.
"""

from __future__ import annotations

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import MERGES_NOTHING, NEEDS_ROUNDS, OPEN_LAMBDA
from equipoise.core.registry import METHODS
from equipoise.method.answers import BY_CONFIGURATION, Exchange, Method


@METHODS.register("ditto", options=MethodOptions, traits=(MERGES_NOTHING, NEEDS_ROUNDS, OPEN_LAMBDA))
def ditto(options: MethodOptions) -> Method:
    from equipoise.models.twin import Twin, personal
    from equipoise.objective.twin import twins

    return Method(
        objective=twins(),
        balance=BY_CONFIGURATION,
        predict=None,
        exchange=Exchange(personal=personal),
        network=Twin,
        stacks=True,
    )
