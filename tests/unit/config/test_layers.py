from __future__ import annotations

import pytest

from equipoise.config.layers import layered
from equipoise.config.loader import load

IMAGES = {"data.name": "digits", "model.name": "cnn", "model.width": 16, "partition.name": "dirichlet", "seed": 3}


def test_data_of_another_kind_drops_what_does_not_fit_it() -> None:
    after = layered({**IMAGES, "client.augment": "two-view", "client.lr": 0.1}, {"data.name": "planted"})
    assert after == {"data.name": "planted", "seed": 3, "client.lr": 0.1}


def test_a_method_that_goes_takes_its_balance_with_it() -> None:
    base = {"data.name": "planted", "method.name": "feddmmr", "balance.name": "constant", "balance.lam": 2.0}
    assert layered(base, {"data.name": "digits"}) == {"data.name": "digits"}


def test_data_of_the_same_kind_drops_nothing() -> None:
    assert layered(IMAGES, {"data.name": "cifar10"}) == {**IMAGES, "data.name": "cifar10"}


def test_what_the_layer_itself_names_is_kept_to_be_checked() -> None:
    assert layered(IMAGES, {"data.name": "planted", "model.name": "cnn"})["model.name"] == "cnn"


@pytest.mark.parametrize(
    ("preset", "data", "model", "partition"),
    [("fedavg", "planted", "sasrec", "users"), ("rec/feddmmr", "digits", "cnn", "dirichlet")],
)
def test_a_preset_runs_on_another_kind_of_data(preset: str, data: str, model: str, partition: str) -> None:
    config = load(preset, [f"data={data}"]).config
    assert (config.data.name, config.model.name, config.partition.name) == (data, model, partition)
