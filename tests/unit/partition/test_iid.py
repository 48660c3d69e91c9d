import numpy as np
import pytest

from equipoise.core.streams import stream
from equipoise.partition.divide import count, divide
from equipoise.partition.iid import IidOptions, iid


def test_sizes_differ_by_one_at_most():
    lists = iid(np.zeros(11, dtype=np.int64), 1, IidOptions(clients=3), stream(0, "t"))
    assert [len(index) for index in lists] == [4, 4, 3]


def test_every_client_has_the_mix_of_the_whole():
    labels = np.repeat([0, 1], [8000, 2000])
    table = count(iid(labels, 2, IidOptions(clients=4), stream(0, "t")), labels, 2)
    assert table[:, 1] == pytest.approx([500] * 4, abs=80)


def test_a_hundred_thousand_clients():
    partition = divide(np.arange(200_000) % 10, 10, IidOptions(clients=100_000), 0)
    assert partition.check.smallest == 2
