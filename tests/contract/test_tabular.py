"""Every method that does not need pixels runs on rows of a table, on both engines."""

from __future__ import annotations

import pytest

from equipoise.config.kinds import fits_kind, kind_of
from equipoise.config.loader import load
from equipoise.core.errors import ConfigError
from equipoise.core.registry import METHODS, MODELS, PREDICTS
from tests.conftest import needs, numbers, records, untouched_rng

KIND = kind_of("wine")
SMALL = ("data=wine", "model=mlp", "model.hidden=8", "partition.clients=3", "rounds=2", "client.epochs=1")


def test_models_that_need_pixels_do_not_fit_and_methods_on_labels_do() -> None:
    assert [entry.name for entry in MODELS if fits_kind("model", entry.name, KIND)] == ["linear", "mlp"]
    assert {"fedavg", "fedprox", "fafi", "etf-align", "fedproto", "statistics"} <= {
        entry.name for entry in METHODS if fits_kind("method", entry.name, KIND)
    }
    assert not fits_kind("method", "feddmmr", KIND)


@pytest.mark.parametrize("name", [each.name for each in METHODS if fits_kind("method", each.name, KIND)])
def test_every_method_on_labels_trains_on_rows(name: str) -> None:
    if name == "fedbn":
        pytest.skip("a perceptron has no BatchNorm")
    with untouched_rng():
        given = {text.split("=")[0]: text for text in (*SMALL, f"method={name}", *needs(name))}
        steps = records(load("fedavg", list(given.values())).config)
    found = numbers(steps)
    headline = "accuracy/merged" if (1, None, "accuracy/merged") in found else "accuracy/clients"
    assert 0 <= found[1, None, headline] <= 1


def test_rows_are_learnt_and_engines_agree() -> None:
    settings = (*SMALL[:4], "rounds=10", "client.lr=0.05", "partition.alpha=10", "engine.together=1")
    local = numbers(records(load("fedavg", list(settings)).config))
    assert local[9, None, "accuracy/merged"] > 0.8
    apart = numbers(records(load("fedavg", [*settings, "engine=processes", "engine.workers=2"]).config))
    assert apart == local


def test_labels_of_rows_can_be_noisy() -> None:
    steps = records(load("fedavg", [*SMALL, "scenario.label_noise=0.3"]).config)
    assert len(steps) == 2


@pytest.mark.parametrize("predict", ["common-gate", "energy-gate", "typicality-gate", "statistics-exchange", "iffi"])
def test_servers_predict_rows(predict: str) -> None:
    one_shot = ("communication=one-shot", "checkpoints=1", "client.epochs=2")
    settings = [*SMALL[:4], *one_shot, "method=fafi", f"server.predict={predict}"]
    found = numbers(records(load("fedavg", settings).config))
    assert 0 <= found[0, None, "accuracy/merged"] <= 1
    assert PREDICTS.find(predict).name == predict


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (("model=cnn",), "'cnn' is not for tabular rows; data 'wine' holds tabular rows: one of linear, mlp"),
        (("client.augment=two-view",), "is for images, and data 'wine' holds tabular rows"),
        (("server.common=patches",), "is for images, and data 'wine' holds tabular rows"),
        (("scenario.shift=blur",), "is for images, and data 'wine' holds tabular rows"),
    ],
)
def test_what_needs_pixels_is_refused(settings: tuple[str, ...], says: str) -> None:
    given = {text.split("=")[0]: text for text in (*SMALL, *settings)}
    if "model=cnn" in settings:
        given.pop("model.hidden")
    with pytest.raises(ConfigError, match=says):
        load("fedavg", list(given.values()))
