from __future__ import annotations

import os

import numpy as np
import pytest

from equipoise.engine import slab
from equipoise.engine.shared import open_node, share
from equipoise.run.build import build
from equipoise.run.placed import moved
from tests.conftest import tiny

from .conftest import a_site


@pytest.fixture(params=["memory", "disk"])
def both(request, monkeypatch):
    if request.param == "disk":
        monkeypatch.setattr(slab, "MEMORY", "/no/such/folder")
    site = a_site("engine=processes")
    descriptor, message = share(site)
    yield site, descriptor, message
    os.close(descriptor)


def test_a_site_comes_back(both):
    site, _, message = both
    back = open_node(message, "cpu").site
    assert back.config == moved(site.config, "cpu")
    assert (back.n_classes, back.inputs, back.shape) == (site.n_classes, site.inputs, site.shape)
    assert np.array_equal(back.train.inputs, site.train.inputs)
    assert np.array_equal(back.train.labels, site.train.labels)
    assert back.train.inputs.dtype == np.uint8
    assert [index.tolist() for index in back.indices] == [index.tolist() for index in site.indices]


def test_nobody_can_change_what_everybody_sees(both):
    back = open_node(both[2], "cpu").site
    for array in (back.train.inputs, back.train.labels, back.indices[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_file_has_no_name(both):
    assert os.readlink(f"/proc/self/fd/{both[1]}").endswith("(deleted)")
    assert len(both[2]) < 5000  # the message says where things lie; it does not hold them


def test_clients_that_are_drawn_are_drawn_there_and_not_sent():
    config = tiny("engine=processes", "partition=drawn", "partition.clients=5000", "data.limit=400")
    site = build(config).site
    arrays, _ = site.shared()
    assert not any(name.startswith("owned") for name in arrays)
    descriptor, message = share(site)
    there = open_node(message, "cpu").site
    os.close(descriptor)
    assert there.n_clients == 5000
    for client in (0, 17, 4999):
        assert there.indices[client].tolist() == site.indices[client].tolist()
