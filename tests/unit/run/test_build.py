from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, PartitionError, UnknownName
from equipoise.engine.local import Local
from equipoise.engine.processes import Processes
from equipoise.kind.samples.site import SampleSite
from equipoise.models.build import build_model, state_of
from equipoise.run.build import build, make_engine
from tests.conftest import assert_same, one_shot, tiny


def test_everything_a_run_needs_from_its_configuration():
    config = tiny("seed=3")
    federation = build(config)
    assert federation.n_clients == 3
    assert sum(len(index) for index in federation.site.indices) == len(federation.site.train) == 200 - 20
    assert federation.site.shape == (3, 8, 8)
    assert_same(federation.start, state_of(build_model(config.model, (3, 8, 8), 10, 3)))


def test_client_machines_hold_no_test_or_validation_image():
    assert {field.name for field in fields(SampleSite)} == {
        "config",
        "method",
        "train",
        "indices",
        "n_classes",
        "inputs",
        "local_tests",
        "whole",
    }
    federation = build(tiny())
    assert federation.site.train is federation.judge.evaluator.splits.train


def test_centralised_is_one_client_with_everybodys_images():
    federation = build(tiny("method=centralised"))
    assert federation.n_clients == 1
    assert np.array_equal(federation.site.indices[0], np.arange(180))
    assert len(federation.partition.indices) == 3


@pytest.mark.parametrize(
    ("config", "carries"),
    [
        (tiny(), False),
        (one_shot(), True),
        (tiny("method=local-only"), True),
        (tiny("method=centralised"), True),
    ],
)
def test_clients_go_on_from_their_own_model_where_nothing_is_sent_down(config, carries):
    assert build(config).carries is carries


def test_the_engine_by_its_name():
    assert isinstance(make_engine(build(tiny()).site), Local)
    engine = make_engine(build(tiny("engine=processes", "engine.workers=1")).site)
    assert isinstance(engine, Processes)
    engine.close()


def test_more_clients_than_images():
    with pytest.raises(PartitionError, match="100 clients of at least 2 need 200 samples, there are 180"):
        build(tiny("partition.clients=100"))


def test_an_engine_that_is_not_there():
    site = build(tiny()).site
    wrong = site.config.model_copy(update={"engine": site.config.engine.model_copy(update={"name": "locl"})})
    with pytest.raises(UnknownName, match="did you mean 'local'"):
        make_engine(replace(site, config=wrong))


@pytest.mark.parametrize("small", ["client.batch=1", "partition.min_size=1"])
def test_batch_norm_is_not_trained_on_single_images(small):
    sizes = ("partition=quantity", "partition.alpha=0.01") if "min_size" in small else ()
    with pytest.raises(ConfigError, match="BatchNorm cannot be trained on batches of one image") as caught:
        build(tiny(*sizes, small, "model.width=2", model="resnet8"))
    assert "model.norm=group" in caught.value.fix
    build(tiny(*sizes, small, "model.width=2", "model.norm=group", model="resnet8"))
    build(tiny(*sizes, small))
