"""What a checkpoint asks of the host: how often it waits for the device, and what is copied."""

from __future__ import annotations

import pytest

from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.core.values import ClientUpdate
from equipoise.engine.local import Local
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from equipoise.run.placed import moved

CASES = {
    "fedavg": ("fedavg", ()),
    "fafi": ("fafi", ("checkpoints=4", "client.epochs=8")),
    "etf-align": ("etf-align", ("balance=v12", "checkpoints=4", "client.epochs=8")),
    "etf-align-alone": ("etf-align", ("balance=v12", "checkpoints=4", "client.epochs=8", "engine.together=1")),
    "rec/feddmmr": ("rec/feddmmr", ()),
}


def config_of(name: str) -> Config:
    preset, settings = CASES[name]
    return moved(load(preset, list(settings)).config, "sim")


@pytest.mark.parametrize("name", CASES)
def test_the_host_hardly_waits_and_no_image_is_copied(name: str, sim) -> None:
    """Once the images are on the device: a second checkpoint from the same node."""
    federation = build(config_of(name))
    engine, snapshot = Local(federation.site), first_snapshot(federation)
    list(engine.map(plan(federation, snapshot, 0)))
    with sim.counting() as counted:
        updates = list(engine.map(plan(federation, snapshot, 1)))
    assert all(isinstance(update, ClientUpdate) for update in updates)
    steps = sum(update.metrics["steps"] for update in updates)
    assert counted["waits"] <= steps / 10, counted
    assert counted["draws"] == 0
    if name != "rec/feddmmr":
        sent = sum(tensor.nbytes for task in plan(federation, snapshot, 1)[:1] for tensor in task.shared.values())
        image = federation.site.train.inputs[0].nbytes
        batch = federation.site.batch
        per_step = (counted["bytes_to_device"] - len(updates) * 4 * sent) / steps
        assert per_step < max(image * batch / 8, 8 * 64 * batch), counted
