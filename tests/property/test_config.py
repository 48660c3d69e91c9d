"""A resolved configuration written as YAML is read back as itself, whatever was overridden."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from equipoise.config.check import check
from equipoise.config.loader import load, preset_names, read_yaml, to_yaml
from equipoise.config.traits import NEEDS_SGD
from equipoise.core.registry import METHODS

RUNS = [name for name in preset_names() if not name.startswith("studies/")]
ON_IMAGES = [name for name in RUNS if not name.startswith("rec/")]
"""What the drawn settings are settings of."""
UNMINDED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=UNMINDED)

number = st.floats(1e-9, 1e6, allow_subnormal=False)
name = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,12}", fullmatch=True)
overrides = st.fixed_dictionaries(
    {},
    optional={
        "name": name,
        "seed": st.integers(0, 2**40),
        "client.lr": number,
        "client.clip": st.none() | number,
        "client.momentum": st.floats(0, 0.999),
        "client.optimiser": st.sampled_from(["sgd", "adamw"]),
        "client.batch": st.integers(1, 10_000),
        "server.fraction": st.floats(0.001, 1),
        "partition.alpha": number,
        "partition.clients": st.integers(1, 10_000),
        "data.limit": st.none() | st.integers(1, 10**6),
        "data.validation": st.floats(0.001, 0.999),
        "evaluate.client_images": st.none() | st.integers(1, 10**6),
        "engine.threads": st.integers(1, 64),
    },
)


def as_text(key: str, value: object) -> str:
    return f"{key}={yaml.safe_dump(value, default_style=chr(34) if isinstance(value, str) else None).splitlines()[0]}"


@QUICK
@given(preset=st.sampled_from(ON_IMAGES), given_=overrides)
def test_yaml_round_trip(tmp_path: Path, preset: str, given_: dict[str, object]) -> None:
    needs_sgd = NEEDS_SGD in METHODS.find(load(preset).config.method.name).traits
    assume(not (needs_sgd and given_.get("client.optimiser") == "adamw"))
    config = load(preset, [as_text(key, value) for key, value in given_.items()]).config
    file = tmp_path / "resolved.yaml"
    file.write_text(to_yaml(config), encoding="utf-8")
    again = load(file).config
    assert again == config
    assert again.fingerprint() == config.fingerprint()
    assert check(read_yaml(file)) == config


@pytest.mark.parametrize("preset", RUNS)
def test_every_preset_round_trips_through_the_stored_form(preset: str) -> None:
    config = load(preset).config
    assert check(config.model_dump()) == config
    assert load(config.model_dump()).config == config


@QUICK
@given(first=st.integers(0, 100), second=st.integers(0, 100))
def test_two_seeds_are_two_fingerprints(first: int, second: int) -> None:
    one, two = (check({"seed": seed}).fingerprint() for seed in (first, second))
    assert (one == two) == (first == second)
