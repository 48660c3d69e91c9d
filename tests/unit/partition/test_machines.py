from __future__ import annotations

import numpy as np
import pytest

from equipoise.config.loader import load
from equipoise.core.errors import ConfigError, PartitionError
from equipoise.core.values import Samples
from equipoise.partition.divide import divide
from equipoise.partition.machines import MachinesOptions, Told, samples_told, with_told

TOLD = {"b": Told(counts=[0, 2, 1], digest="b"), "a": Told(counts=[3, 0, 0], digest="a")}
OPTIONS = MachinesOptions(classes=["x", "y", "z"], told=TOLD)
LIKE = Samples(np.ones((4, 1, 8, 8), dtype=np.uint8), np.zeros(4, dtype=np.int64))


def test_clients_are_the_machines_by_name_and_own_what_they_told():
    samples = samples_told(OPTIONS, LIKE)
    assert samples.labels.tolist() == [0, 0, 0, 1, 1, 2]
    partition = divide(samples.labels, 3, OPTIONS, 0)
    assert OPTIONS.ids == ("a", "b")
    assert partition.counts.tolist() == [[3, 0, 0], [0, 2, 1]]


def test_the_driver_s_inputs_hold_nothing_and_take_no_memory():
    inputs = samples_told(OPTIONS, LIKE).inputs
    assert inputs.shape == (6, 1, 8, 8)
    assert not inputs.any()
    assert inputs.strides[0] == 0


def test_nothing_is_known_before_the_machines_are_asked():
    with pytest.raises(PartitionError, match="known when a run asks them"):
        samples_told(MachinesOptions(), LIKE)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (MachinesOptions(clients=3), "partition.clients=3, and 2 machines have data: a, b"),
        (MachinesOptions(min_size=4), "has 3 samples, and partition.min_size=4"),
    ],
)
def test_too_few_machines_or_samples_are_refused(options, says):
    with pytest.raises(PartitionError, match=says):
        with_told(options, ("x", "y", "z"), TOLD)


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (("partition=machines",), "each machine brings its own data"),
        (("partition=machines", "engine=flower", "scenario.label_noise=0.1"), "keep theirs as they are"),
        (("partition=machines", "engine=flower", "data.local_test=0.1"), "is drawn where the samples are"),
        (("partition=machines", "engine=flower", "method=centralised"), "everybody's samples in one place"),
        (("server.deadline=5",), "belongs to engine=flower"),
        (("server.quorum=0.9",), "does nothing without server.deadline"),
        (("engine=flower", "engine.compress=int8", "engine.client_state=travels"), "would round what clients keep"),
    ],
)
def test_settings_that_need_what_is_not_there_are_refused(overrides, says):
    with pytest.raises(ConfigError, match=says):
        load("fedavg", list(overrides))
