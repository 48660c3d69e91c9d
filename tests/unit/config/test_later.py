"""Keys that came later leave the hashes of what was stored before them as they were."""

from __future__ import annotations

import pytest

from equipoise.config.check import check
from equipoise.config.later import LATER, without_later
from equipoise.config.loader import load
from equipoise.core.errors import ConfigError

BEFORE = {
    "fedavg": ("55a8bb7c744c", None),
    "fafi": ("9226b3397d18", "48645c4c61b7"),
    "rec/feddmmr": ("f5a88cf6d8c6", None),
}
"""First 12 digits of both hashes, from before there were scenarios."""


@pytest.mark.parametrize("preset", BEFORE)
def test_stores_keep_matching(preset):
    config = load(preset).config
    assert (config.fingerprint()[:12], (config.training_fingerprint() or "")[:12] or None) == BEFORE[preset]


@pytest.mark.parametrize("given", ["scenario.label_noise=0.1", "scenario.shift=blur", "data.local_test=0.2"])
def test_another_value_is_another_hash(given):
    for preset in ("fedavg", "fafi"):
        plain, other = load(preset).config, load(preset, [given]).config
        assert plain.fingerprint() != other.fingerprint()
    assert plain.training_fingerprint() != other.training_fingerprint()


def test_a_configuration_stored_before_can_still_be_read():
    stored = load("fedavg").config.model_dump()
    old = {key: value for key, value in stored.items() if key != "scenario"}
    old["data"] = {key: value for key, value in stored["data"].items() if key != "local_test"}
    assert check(old) == load("fedavg").config
    assert check(old).fingerprint() == load("fedavg").config.fingerprint()


def test_only_the_old_meaning_is_left_out():
    content = {"seed": 1, "scenario": LATER["scenario"], "data": {"name": "x", "local_test": 0.0}}
    assert without_later(content) == {"seed": 1, "data": {"name": "x"}}
    other = {"scenario": {**LATER["scenario"], "shift": "blur"}, "data": {"local_test": 0.1}}
    assert without_later(other) == other


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["scenario.strength=0.3"], "does nothing without a shift"),
        (["scenario.clients=0.3"], "does nothing without a shift or label_noise"),
        (["scenario.strength=0.3", "scenario.label_noise=0.1"], "does nothing without a shift"),
        (["scenario.label_noise=1.5"], "less than or equal to 1"),
        (["scenario.shift=melt"], "rotation"),
        (["scenario.noise=0.5"], "did you mean"),
    ],
)
def test_scenarios_that_mean_nothing_are_refused(given, message):
    with pytest.raises(ConfigError, match=message):
        load("fedavg", given)


def test_a_scenario_is_for_images():
    with pytest.raises(ConfigError, match=r"scenario\.label_noise: is for images"):
        load("rec/feddmmr", ["scenario.label_noise=0.1"])
    assert load("fedavg", ["scenario.label_noise=0.1", "scenario.clients=0.5"]).config.scenario.clients == 0.5
