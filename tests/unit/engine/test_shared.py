from __future__ import annotations

import os

import numpy as np
import pytest

from equipoise.engine import slab
from equipoise.engine.shared import share, shared_site
from equipoise.run.build import build
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
    back = shared_site(message)
    assert back.config == site.config
    assert (back.n_classes, back.mean, back.std, back.shape) == (site.n_classes, site.mean, site.std, site.shape)
    assert np.array_equal(back.train.pixels, site.train.pixels)
    assert np.array_equal(back.train.labels, site.train.labels)
    assert back.train.pixels.dtype == np.uint8
    assert [index.tolist() for index in back.indices] == [index.tolist() for index in site.indices]


def test_nobody_can_change_what_everybody_sees(both):
    back = shared_site(both[2])
    for array in (back.train.pixels, back.train.labels, back.indices[0]):
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
    there = shared_site(message)
    os.close(descriptor)
    assert there.n_clients == 5000
    for client in (0, 17, 4999):
        assert there.indices[client].tolist() == site.indices[client].tolist()
