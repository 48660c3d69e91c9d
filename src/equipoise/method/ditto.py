"""Ditto: every client also trains a personal model, which is held near the common one.

base = cls(v) + cls(w)        align = ½‖v − w_t‖²        λ = the balance block
merge = mean by samples, of w        predict = none: every client's own v is the result
Source: Li et al., "Ditto: Fair and Robust Federated Learning Through Personalization", 2021. Both train in one pass;
v is pulled towards what the server sent, so v and w do not affect each other. A policy that scales base also scales
w's loss, and client.clip applies to both gradients together.
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
