"""The real sets, where EQUIPOISE_DATA points at them."""

from __future__ import annotations

import os

import pytest

from tests.e2e.conftest import Equipoise

SETS = {"cifar10": ["partition.alpha=0.05"], "fashion-mnist": [], "tiny-imagenet": ["data.classes=100"]}


@pytest.mark.parametrize("name", SETS)
def test_a_federation_trains_on_real_images(name: str, equipoise: Equipoise) -> None:
    folder = os.environ.get("EQUIPOISE_DATA")
    if not folder:
        pytest.skip("EQUIPOISE_DATA is not set")
    small = ["data.limit=500", "data.test_limit=200", "rounds=1", "client.epochs=1", "model.stem_stride=2"]
    found = {key: os.environ[key] for key in ("EQUIPOISE_DATA", "EQUIPOISE_CACHE") if key in os.environ}
    arguments = ("run", "fedavg", f"data={name}", "model=resnet8", *SETS[name], *small, "--json")
    run = equipoise(*arguments, **found).json
    assert run["status"] == "done"
    assert run["metrics"]["loss/merged"] > 0
    n_classes = 100 if name == "tiny-imagenet" else 10
    assert sum(key.startswith("recall/") for key in run["metrics"]) <= n_classes
