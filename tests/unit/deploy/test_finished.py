from __future__ import annotations

from dataclasses import replace

import pytest

from equipoise.config.loader import load
from equipoise.core.errors import ConfigError, DataError
from equipoise.deploy.finished import finished
from equipoise.store import read
from tests.conftest import tiny

from .conftest import run_of


@pytest.fixture(scope="module")
def run(store):
    return run_of(store, tiny())


def test_a_run_that_is_not_done_has_no_model_yet(store, run):
    with pytest.raises(ConfigError, match=r"is stopped, and has no model yet[^$]*equipoise resume"):
        finished(store, replace(run, status="stopped"))


def test_a_run_of_another_version_is_refused(store, run):
    with pytest.raises(ConfigError, match=r"made by version 0\.0\.7"):
        finished(store, replace(run, version="0.0.7"))


def test_a_recommender_is_refused_in_words(store, run):
    config = load("rec/feddmmr", []).config
    with pytest.raises(ConfigError, match=r"learns from interactions: a recommender needs its users' histories"):
        finished(store, replace(run, config=config.model_dump()))


def test_other_data_is_refused(store, run):
    with pytest.raises(ConfigError, match="the data is not what run"):
        finished(store, replace(run, environment={**run.environment, "content": "other"}))


def test_data_that_is_missing_is_named_with_what_it_is_for(store, run, tmp_path):
    config = tiny("data=cifar10", model="cnn").model_dump()
    with pytest.raises(DataError, match=r"needs its data, for class names, normalisation and what clients answer: "):
        finished(store, replace(run, config=config), tmp_path)


def test_clients_of_a_round_before_the_last_were_not_kept(store):
    run = run_of(store, tiny("method=ensemble", "rounds=8", "evaluate.patience=1", "client.lr=0.9"))
    found = finished(store, run)
    assert found.step < found.last_step
    with pytest.raises(ConfigError, match=r"asks the clients' models of round \d, and run .* only those of its last"):
        found.merged()


def test_the_last_round_keeps_clients_only_for_those_who_ask_them(store, run):
    names = read.checkpoints(store, run.run_id)[0].manifest
    assert not [name for name in names if name.startswith("upload/")]
    ensemble = run_of(store, tiny("method=ensemble"))
    names = read.checkpoints(store, ensemble.run_id)[0].manifest
    assert sorted(name for name in names if name.startswith("upload/")) == ["upload/0", "upload/1", "upload/2"]
