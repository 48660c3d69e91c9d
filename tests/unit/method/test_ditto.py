from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.core.values import n_bytes
from equipoise.engine.local import Local
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from tests.conftest import assert_same, numbers, one_shot, records, tiny

PULLED = ("method=ditto", "balance=constant", "rounds=3")
PLAIN = ("client.momentum=0", "client.lr=0.05")


def part(state, prefix: str):
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}


def personal(steps) -> list:
    return [part(own.model, "personal.") for _, own in sorted(steps[-1].snapshot.own.items())]


def assert_near(ours, theirs, near: float = 1e-5) -> None:
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        assert torch.allclose(ours[name], tensor, atol=near), name


@pytest.mark.parametrize("lam", [0.0, 2.0])
def test_the_common_model_is_fedavgs_whatever_the_pull(lam):
    ours = records(tiny(*PULLED, f"balance.lam={lam}"))[-1].snapshot.server.model
    assert_near(part(ours, "shared."), records(tiny("method=fedavg", "rounds=3"))[-1].snapshot.server.model)


def test_without_a_pull_everybody_is_alone():
    alone = records(tiny("method=local-only", "rounds=3", *PLAIN))[-1].snapshot.own
    ours = personal(records(tiny(*PULLED, *PLAIN, "balance.lam=0")))
    for client, model in enumerate(ours):
        assert_near(model, alone[client].model)


def test_under_an_infinite_pull_the_personal_model_is_the_servers():
    """v − w_t after a step with lr·λ = 1 is −lr·∇cls(v): as λ grows it goes to 0, however far v was before."""
    distances = []
    for lam in (1e2, 1e4, 1e6):
        federation = build(tiny(*PULLED, "client.momentum=0", f"client.lr={1 / lam}", f"balance.lam={lam}"))
        moved = {name: w + 3.0 if name.startswith("shared.") else w for name, w in federation.start.items()}
        first = first_snapshot(federation)
        far = replace(first, server=replace(first.server, model=moved))  # what is sent lies far from every v
        results = list(Local(federation.site).map(plan(federation, far, 0)))
        sent = part(moved, "shared.")
        gaps = [(part(each.model, "personal.")[name] - w).abs().max() for each in results for name, w in sent.items()]
        distances.append(float(max(gaps)))
    assert distances[0] > 10 * distances[1] > 100 * distances[2]
    assert distances[2] < 1e-3  # without a pull every v would stay about 3 away


def test_it_comes_there_from_afar():
    near, far = (personal(records(tiny(*PULLED, *PLAIN, f"balance.lam={lam}"))) for lam in (10.0, 0.0))
    sent = part(records(tiny(*PULLED, *PLAIN, "balance.lam=10"))[-2].snapshot.server.model, "shared.")
    distance = [sum((model[name] - w).square().sum() for name, w in sent.items()).item() for model in (near[0], far[0])]
    assert distance[0] < distance[1]


def test_the_personal_model_never_reaches_the_server():
    steps, start = records(tiny(*PULLED)), build(tiny(*PULLED)).start
    assert_same(part(steps[-1].snapshot.server.model, "personal."), part(start, "personal."))
    assert_same(part(start, "personal."), part(start, "shared."))
    half = n_bytes(start) // 2
    assert numbers(steps)[1, None, "bytes/up"] == numbers(steps)[1, None, "bytes/down"] == 3 * half


def test_what_is_scored_is_the_personal_model():
    """Of a client that is alone, its accuracy is that of training alone."""
    ours, alone = (
        numbers(records(tiny(f"method={method}", *settings, "rounds=3", *PLAIN)))
        for method, settings in (("ditto", ("balance=constant", "balance.lam=0")), ("local-only", ()))
    )
    assert ours[2, None, "accuracy/clients"] == pytest.approx(alone[2, None, "accuracy/clients"], abs=0.02)


def test_both_losses_are_recorded_and_add_up():
    found = numbers(records(tiny(*PULLED)))
    assert found[0, 0, "loss/base"] == pytest.approx(found[0, 0, "loss/cls"] + found[0, 0, "loss/shared"])


def test_without_rounds_it_is_refused():
    with pytest.raises(ConfigError, match="ditto"):
        one_shot("method=ditto")
