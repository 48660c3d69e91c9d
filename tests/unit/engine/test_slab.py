from __future__ import annotations

import os

import pytest
import torch

from equipoise.engine.slab import Slab, anonymous_file
from tests.conftest import assert_same


@pytest.fixture
def pair():
    """Two ends of one slab, as two processes have them."""
    descriptor = anonymous_file(0)
    yield Slab(descriptor), Slab(os.dup(descriptor))
    os.close(descriptor)


STATES = {
    "several types": {
        "w": torch.randn(3, 4),
        "n": torch.tensor(7),
        "is": torch.tensor([True, False]),
        "i": torch.arange(5),
    },
    "nothing": {},
    "an empty tensor": {"none": torch.empty(0, 3), "one": torch.ones(1)},
    "another layout": {"w": torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)},
    "a part": {"w": torch.randn(4, 4)[:, 1:3], "half": torch.ones(2, dtype=torch.float16)},
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES.keys())
def test_what_one_end_writes_the_other_reads(pair, state):
    ours, theirs = pair
    assert_same(theirs.read(ours.write(state)), {name: tensor.contiguous() for name, tensor in state.items()})


def test_it_grows_and_is_written_again(pair):
    ours, theirs = pair
    for size in (10, 100_000, 3):
        state = {"w": torch.full((size,), float(size))}
        assert_same(theirs.read(ours.write(state)), state)
        assert_same(ours.read(theirs.write(state)), state)  # and back


def test_copies_stay_and_views_do_not(pair):
    ours, theirs = pair
    places = ours.write({"w": torch.zeros(3)})
    copy, view = theirs.read(places)["w"], theirs.read(places, copies=False)["w"]
    ours.write({"w": torch.ones(3)})
    assert copy.tolist() == [0, 0, 0]
    assert view.tolist() == [1, 1, 1]
