from __future__ import annotations

import pytest
import yaml

from equipoise.config.aliases import CANONICAL, SYNONYMS
from equipoise.config.loader import load, to_yaml

VALUES = {
    "partition.alpha": 0.3,
    "partition.clients": 7,
    "client.epochs": 4,
    "client.batch": 16,
    "client.lr": 0.02,
    "client.momentum": 0.5,
    "client.weight_decay": 0.001,
    "server.fraction": 0.4,
    "rounds": 6,
    "method.mu": 0.2,
    "seed": 11,
    "track.to": ["wandb"],
}
NAMES = [(alias, key) for key, aliases in SYNONYMS.items() for alias in aliases]


def at(document: dict, key: str):
    for part in key.split("."):
        document = document[part]
    return document


@pytest.mark.parametrize(("alias", "key"), NAMES)
def test_a_researchers_name_is_accepted_and_printed_in_canonical_form(alias, key):
    config = load("fedprox", [f"{alias}={VALUES[key]}"]).config
    assert at(yaml.safe_load(to_yaml(config)), key) == VALUES[key]
    assert config == load("fedprox", [f"{key}={VALUES[key]}"]).config


def test_the_names_of_the_literature_are_there():
    names = {"alpha", "beta", "num_clients", "K", "local_epochs", "E", "join_ratio", "fraction", "batch_size", "lr"}
    assert names <= CANONICAL.keys()


def test_an_alias_in_a_file_is_understood_too(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("preset: fedavg\nnum_clients: 9\nclient: {local_epochs: 3}\nserver: {join_ratio: 0.5}\n")
    config = load(file).config
    assert (config.partition.clients, config.client.epochs, config.server.fraction) == (9, 3, 0.5)
