"""The five answers of every method."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.registry import METHODS
from equipoise.core.values import Moment
from equipoise.method.answers import BY_CONFIGURATION, BY_KIND, NO_LAMBDA, Chosen, Exchange, Method
from equipoise.method.resolve import resolve
from equipoise.models.classifier import ModelOutput
from equipoise.objective.compose import Batch, Net
from equipoise.server.mean import mean
from equipoise.server.merge import ServerState, keep
from tests.conftest import tiny, update


def method(name: str, **options) -> Method:
    entry = METHODS.find(name)
    return entry.make(entry.options(name=entry.name, **options))


def test_all_the_classic_methods_are_there():
    names = {
        "fedavg", "fedprox", "fedavgm", "fedadam", "local-only", "centralised", "ensemble", "logit-ensemble",
    }  # fmt: skip
    assert names <= set(METHODS.names())


def test_the_defaults_are_fedavgs_answers():
    assert method("fedavg") == Method() == Method(BY_KIND, NO_LAMBDA, mean, "parameter-average", Exchange())
    assert Exchange() == Exchange(down=True, up=True, report=None, keep=None, begin=None)


@pytest.mark.parametrize(
    ("name", "predict"), [("ensemble", "probability-ensemble"), ("logit-ensemble", "logit-ensemble")]
)
def test_ensembles_change_only_how_they_predict(name, predict):
    assert method(name) == Method(predict=predict)


def test_local_only_shares_nothing():
    assert method("local-only") == Method(merge=keep, predict=None, exchange=Exchange(down=False, up=False))


def test_centralised_pools_the_data():
    assert method("centralised") == Method(exchange=Exchange(down=False), pools_data=True)


@pytest.mark.parametrize(("name", "headline"), [("fedavg", "accuracy/merged"), ("local-only", "accuracy/clients")])
def test_the_headline_is_what_a_table_shows(name, headline):
    assert resolve(tiny(f"method={name}")).headline == headline


def test_what_is_left_open_says_to_whom():
    """One word for each: nothing means three things."""
    assert (BY_CONFIGURATION, BY_KIND) == (Chosen.BY_CONFIGURATION, Chosen.BY_KIND)
    assert method("etf-align").balance is BY_CONFIGURATION
    assert method("fafi").merge is BY_CONFIGURATION
    assert method("fedavg").objective is BY_KIND
    assert method("fafi").head is not None
    assert method("fedavg").teacher is None


def test_fedprox_weighs_the_distance_by_mu():
    prox = method("fedprox", mu=0.3)
    net = Net(lambda images: ModelOutput(images, torch.zeros(2, 2)), {"w": torch.tensor([3.0])})
    batch, moment = Batch(torch.zeros(2), torch.tensor([0, 1])), Moment(0.0, np.array([1, 1]))
    losses = prox.objective(net, batch, {"w": torch.tensor([1.0])}, moment)
    assert losses.align is not None
    assert losses.align.item() == (3 - 1) ** 2 / 2
    weighed = prox.balance.weigh(losses, {}, moment)
    assert weighed.network.item() == pytest.approx(torch.tensor(2.0).log().item() + 0.3 * 2)
    assert weighed.used == 0.3


def merged(name: str, **options) -> float:
    state = ServerState({"w": torch.tensor([1.0])})
    return method(name, **options).merge(state, [update(0, 1, {"w": torch.tensor([3.0])})]).model["w"].item()


def test_server_optimisers_take_their_settings():
    assert merged("fedavg") == 3
    assert merged("fedavgm", lr=0.5, beta=0.9) == 1 + 0.5 * 2
    m, v = 0.2 * 2, 0.1 * 4
    adam = merged("fedadam", lr=0.1, beta1=0.8, beta2=0.9, tau=0.01)
    assert adam == pytest.approx(1 + 0.1 * m / (v**0.5 + 0.01))
