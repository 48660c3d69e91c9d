"""A run on a device differs from one on the CPU by rounding only: all draws are the same."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from equipoise.config.loader import load
from equipoise.core.registry import BALANCES, METHODS, MODELS
from equipoise.models.classifier import Classifier
from tests.conftest import for_images, needs, one_shot, tiny, under
from tests.device.conftest import assert_close, on
from tests.golden.test_curves import HISTORIES, RECOMMENDERS

pytestmark = pytest.mark.slow

TWO_VIEWS = ("client.augment=two-view", "client.clip=1.0")


@pytest.mark.parametrize("method", for_images(METHODS))
def test_every_method(method: str, sim) -> None:
    config = tiny(f"method={method}", *needs(method))
    with sim.counting() as counted:
        there = on("sim", config)
    assert counted["draws"] == 0
    assert counted["ops"] > 100
    assert_close(on("cpu", config), there)


@pytest.mark.parametrize("balance", BALANCES.names())
def test_every_policy(balance: str) -> None:
    config = one_shot("method=etf-align", *TWO_VIEWS, *under(balance), epochs=2)
    assert_close(on("cpu", config), on("sim", config))


@pytest.mark.parametrize(
    "settings",
    [
        ("model=cnn", "model.width=4", "model.norm=batch", "client.optimiser=adamw", "client.lr=0.01"),
        ("model=resnet8", "model.width=4", "client.weight_decay=0.01"),
        ("model=filters", "model.filters=8"),
        ("model=mlp", "model.hidden=16", "engine.together=1", "client.terms.balanced=0.1", "client.clip=0.5"),
    ],
    ids=lambda settings: settings[0],
)
def test_models_and_optimisers(settings: tuple[str, ...]) -> None:
    config = tiny(*settings)
    assert_close(on("cpu", config), on("sim", config))


def test_every_predictor_the_probe_and_what_clients_answer() -> None:
    settings = ("method=fafi", "model.width=4", "model.norm=batch", "evaluate.beside=each", "data.local_test=0.2")
    config = one_shot(*settings, *TWO_VIEWS, model="cnn", epochs=2)
    assert_close(on("cpu", config), on("sim", config))


def test_a_teacher_and_rows_of_a_table() -> None:
    taught = tiny("method=public-bank", "data.public=0.2", "client.augment=two-view")
    assert_close(on("cpu", taught), on("sim", taught))
    rows = load("fedavg", ["data=wine", "rounds=2", "engine.together=1"]).config
    assert_close(on("cpu", rows), on("sim", rows))


@pytest.mark.parametrize("together", [1, 8])
@pytest.mark.parametrize("name", ["feddmmr", "feddmmr-global-memory", "feddmmr-learnt-lam", "feddmmr-sampled"])
def test_recommenders(name: str, together: int) -> None:
    config = load("rec/feddmmr", [*HISTORIES, *RECOMMENDERS[name], f"engine.together={together}"]).config
    assert_close(on("cpu", config), on("sim", config), rel=5e-3)


def test_a_device_without_double_precision(sim) -> None:
    """As Apple's: nothing that trains or predicts may need it."""
    config = one_shot("method=etf-align", "balance=v12", "evaluate.beside=each", *TWO_VIEWS, epochs=2)
    rec = load("rec/feddmmr", [*HISTORIES, *RECOMMENDERS["feddmmr"]]).config
    with sim.lacking(torch.float64):
        assert_close(on("cpu", config), on("sim", config))
        assert_close(on("cpu", rec), on("sim", rec), rel=5e-3)


@pytest.mark.usefixtures("own_plugins")
def test_dropout_is_drawn_on_the_cpu(sim) -> None:
    @MODELS.register("dropping")
    def dropping(options, shape, n_classes):
        layers = [nn.Flatten(), nn.Linear(192, 16), nn.ReLU(), nn.Dropout(0.4)]
        by_channel = [nn.Unflatten(1, (4, 4)), nn.Dropout1d(0.3), nn.Flatten()]
        convolved = [nn.Conv2d(3, 3, 3, padding=1), nn.Dropout(0.2)]  # in channels-last order
        return Classifier(nn.Sequential(*convolved, *layers, *by_channel), 16, n_classes)

    config = tiny("model=dropping")
    with sim.counting() as counted:
        there = on("sim", config)
    assert counted["draws"] == 0
    assert_close(on("cpu", config), there)


def test_what_travels_and_what_is_stored_is_on_the_cpu() -> None:
    steps = on("sim", one_shot("method=scaffold", "communication=rounds", "rounds=2", "checkpoints=null"))
    snapshot = steps[-1].snapshot
    states = [snapshot.server.model, snapshot.server.memory, snapshot.broadcast, steps[-1].pictures]
    states += [group for own in snapshot.own.values() for group in own.groups().values()]
    assert {tensor.device.type for state in states for tensor in state.values()} == {"cpu"}
