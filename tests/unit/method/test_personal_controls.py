"""Corrections of drift beside weights that stay with their client, or are frozen."""

from __future__ import annotations

import torch

from equipoise.run.build import build
from tests.conftest import records, tiny

PLAIN = ("client.momentum=0", "partition.alpha=0.5", "rounds=6")


def moved(method: str, *settings: str) -> float:
    """How far the personal heads are from where they began."""
    config = tiny(f"method={method}", "server.personal=[head]", *PLAIN, *settings)
    start, own = build(config).start["head.weight"], records(config)[-1].snapshot.own
    return max(float((state.model["head.weight"] - start).norm()) for state in own.values())


def test_feddyn_held_a_personal_head_where_it_began() -> None:
    free = moved("fedavg")
    assert moved("feddyn", "method.alpha=10") > 0.5 * free > 0


def test_personal_weights_have_no_number_beside_them() -> None:
    for method, prefix in (("feddyn", "h_k/"), ("scaffold", "c_k/")):
        own = records(tiny(f"method={method}", "server.personal=[head]", *PLAIN))[-1].snapshot.own
        for state in own.values():
            assert {name for name in state.memory if name.startswith(prefix)}
            assert not {name for name in state.memory if "head." in name}


def test_control_variates_of_frozen_weights_went_to_zero() -> None:
    stages = "client.stages=[{rounds: 2, groups: [encoder]}, {rounds: 3, groups: [head]}]"
    steps = records(tiny("method=scaffold", *PLAIN, stages, "server.fraction=0.67"))
    name = "c/encoder.1.weight"
    before, after = (steps[k].snapshot.broadcast[name] for k in (1, 4))
    assert before.norm() > 0
    assert torch.equal(before, after)
