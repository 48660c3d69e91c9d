from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from equipoise.api.request import merged, plain, requested
from equipoise.config.loader import load
from equipoise.core.errors import ConfigError


def test_numbers_of_numpy_and_paths_are_plain() -> None:
    given = {"rounds": np.int64(3), "partition": {"alpha": np.float64(0.5)}, "list": (np.int32(1), Path("x"))}
    assert plain(given) == {"rounds": 3, "partition": {"alpha": 0.5}, "list": [1, "x"]}
    assert type(plain(given)["rounds"]) is int


def test_a_data_folder_is_no_part_of_the_configuration(tmp_path: Path) -> None:
    request = requested("fedavg", {"data": {"name": "cifar10", "path": tmp_path}})
    assert request.data_path == tmp_path
    assert request.config == load("fedavg", ["data=cifar10"]).config


def test_a_mapping_and_a_config_are_sources_too() -> None:
    config = requested({"preset": "fedavg", "rounds": 3}).config
    assert config.rounds == 3
    other = requested(config, {"method": "fedprox"}).config
    assert (other.rounds, other.method.name, other.name) == (3, "fedprox", config.name)


def test_texts_are_left_as_they_are() -> None:
    assert merged(["a=1"], {}) == ["a=1"]
    with pytest.raises(ConfigError, match="expected a mapping"):
        merged("a=1", {})
