from __future__ import annotations

import pytest
import torch

from equipoise.config.loader import load
from equipoise.engine.local import Local
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from tests.conftest import one_shot, records, tiny


def models(*overrides: str, make=tiny):
    ours, theirs = (records(make(f"method={name}", *overrides))[-1].snapshot for name in ("fednova", "fedavg"))
    return ours.server.model, theirs.server.model


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_where_everybody_takes_as_many_steps_it_is_fedavg(momentum):
    ours, theirs = models("client.batch=1000", "client.epochs=3", f"client.momentum={momentum}")
    for name, tensor in theirs.items():
        assert torch.allclose(ours[name], tensor, atol=1e-6), name


def test_where_steps_differ_it_is_not():
    ours, theirs = models("client.batch=8")
    assert any(not torch.allclose(ours[name], tensor, atol=1e-4) for name, tensor in theirs.items())


def test_a_client_reports_its_steps_times_the_rate():
    config = tiny("method=fednova", "client.batch=16", "client.momentum=0", "client.lr=0.05", "client.epochs=3")
    federation = build(config)
    for update in Local(federation.site).map(plan(federation, first_snapshot(federation), 0)):
        steps = 3 * -(-update.samples // 16)
        assert update.own.report["reach"].item() == pytest.approx(steps * 0.05)


def test_with_one_upload_all_steps_since_the_start_count():
    last = records(one_shot("method=fednova", "client.batch=16", "client.momentum=0", "client.lr=0.05"))[-1].snapshot
    for own, indices in zip(last.own.values(), build(one_shot()).site.indices, strict=True):
        assert own.report["reach"].item() == pytest.approx(4 * -(-len(indices) // 16) * 0.05)


def test_where_clients_hold_rows_of_a_table_and_take_as_many_steps_it_is_fedavg_too():
    small = ("data.users=12", "data.length=20", "data.items=80", "model.length=8", "model.width=16", "rounds=2")
    how = ("server.fraction=1.0", "client.batch=100", "client.momentum=0", "client.epochs=2")
    ours, theirs = (
        records(load("rec/fedavg", [f"method={name}", *small, *how]).config)[-1].snapshot.server.model
        for name in ("fednova", "fedavg")
    )
    for name, tensor in theirs.items():
        assert torch.allclose(ours[name], tensor, atol=1e-5), name
