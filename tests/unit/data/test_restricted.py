from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.data.restricted import read_pickle

from .writers import python2_pickle


class Malicious:
    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self):
        return os.mkdir, (self.target,)


def test_a_python_2_batch_is_read():
    content = read_pickle(python2_pickle({b"data": np.arange(6, dtype=np.uint8).reshape(2, 3), b"labels": [1]}), "here")
    assert content[b"data"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert content[b"labels"] == [1]


@pytest.mark.parametrize("protocol", [3, 4])
def test_a_python_3_batch_is_read(protocol):
    data = pickle.dumps({b"data": np.arange(6, dtype=np.uint8)}, protocol=protocol)
    assert read_pickle(data, "here")[b"data"].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_malicious_pickle_runs_nothing(tmp_path, protocol):
    target = tmp_path / "made-by-a-pickle"
    data = pickle.dumps({"data": Malicious(str(target))}, protocol=protocol)
    with pytest.raises(DataError, match=r"mkdir.*nothing was run") as caught:
        read_pickle(data, "evil/data_batch_1")
    assert not target.exists()
    assert caught.value.where == "evil/data_batch_1"
    assert "do not trust" in caught.value.fix


@pytest.mark.parametrize("name", [b"cbuiltins\neval\n.", b"cnumpy\nload\n.", b"cnumpy.core.multiarray\nscalar\n."])
def test_only_what_an_array_is_made_of_may_be_named(name):
    with pytest.raises(DataError, match="nothing was run"):
        read_pickle(name, "here")


def test_a_cut_pickle_is_named():
    whole = python2_pickle({b"data": np.zeros(100, np.uint8)})
    for end in (0, 10, 60, len(whole) - 1):
        with pytest.raises(DataError, match="not a whole pickle"):
            read_pickle(whole[:end], "data_batch_1")


def test_something_other_than_a_dictionary_is_refused():
    with pytest.raises(DataError, match="expected a pickled dictionary, found list"):
        read_pickle(pickle.dumps([1]), "here")
