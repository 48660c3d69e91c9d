from __future__ import annotations

import ast
import inspect
import json

import pytest
import torch

import equipoise.core.codec as module
from equipoise.core.codec import decode, encode, flatten, unflatten, unstacked
from equipoise.core.errors import EngineError

IMAGE = torch.arange(2 * 3 * 4 * 5, dtype=torch.float32).reshape(2, 3, 4, 5)
TENSORS = {
    "float32": torch.tensor([1.5, -0.0, float("inf"), float("nan"), 1e-45]),
    "float64": torch.tensor([[1e-300, 2.0], [3.0, -4.0]], dtype=torch.float64),
    "float16": torch.tensor([1.0, 65504.0, 6e-8], dtype=torch.float16),
    "bfloat16": torch.tensor([1.0, 3e38], dtype=torch.bfloat16),
    "int64": torch.tensor([2**62, -(2**63), 0]),
    "int32": torch.tensor([1, -1], dtype=torch.int32),
    "uint8": torch.tensor([0, 255], dtype=torch.uint8),
    "bool": torch.tensor([[True, False], [False, True]]),
    "empty": torch.empty(0, 3),
    "scalar": torch.tensor(41),
    "transposed": torch.arange(6.0).reshape(2, 3).t(),
    "every second": torch.arange(10)[::2],
    "channels last": IMAGE.contiguous(memory_format=torch.channels_last),
    "needs a gradient": torch.ones(3, requires_grad=True),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_comes_back_to_the_last_bit(name):
    tensor = TENSORS[name].detach()
    _, found = decode(encode({}, {name: TENSORS[name]}))
    assert found.keys() == {name}
    assert found[name].dtype == tensor.dtype
    assert found[name].shape == tensor.shape
    assert found[name].is_contiguous()
    assert raw(found[name]) == raw(tensor)


def raw(tensor: torch.Tensor) -> list[int]:
    """Its bytes, so that NaN and −0 count as what they are."""
    return tensor.contiguous().reshape(-1).view(torch.uint8).tolist()


def test_plain_values_come_back():
    header = {"step": 3, "range": [0, 4], "name": "größe/λ", "nothing": None, "lr": 0.1, "nested": {"a": [True, "b"]}}
    assert decode(encode(header, {"w": torch.ones(2)}))[0] == header
    assert decode(encode({}, {})) == ({}, {})


def test_a_number_that_is_not_finite_comes_back():
    header, _ = decode(encode({"inf": float("inf")}, {}))
    assert header == {"inf": float("inf")}


def test_what_comes_back_is_ours_to_change():
    _, found = decode(encode({}, {"w": torch.zeros(3)}))
    found["w"] += 1
    assert found["w"].tolist() == [1, 1, 1]


def body(metadata: object) -> bytes:
    header = json.dumps({"__metadata__": metadata} if metadata is not None else {}).encode()
    return len(header).to_bytes(8, "little") + header


WHOLE = encode({"step": 1}, {"w": torch.arange(4.0)})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        b"\xff" * 64,
        b"\x80\x04\x95" + b"a pickle, say",
        WHOLE[:-1],
        WHOLE[:20],
        WHOLE + b"x",
        body(None),
        body({"other": "1"}),
        body({"header": "{not json"}),
        body([1]),
        (100_000).to_bytes(8, "little") + b"[" * 100_000,
    ],
    ids=[
        "nothing", "short", "noise", "pickle", "truncated body", "truncated header", "too long", "no metadata",
        "no header", "header is not JSON", "metadata is a list", "nested without end",
    ],
)  # fmt: skip
def test_malformed_bytes_are_an_engine_error(data):
    with pytest.raises(EngineError, match=f"a message of {len(data)} bytes is not one of ours") as caught:
        decode(data)
    assert caught.value.where == "codec"


def test_nothing_is_ever_unpickled():
    imported = [
        alias.name
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    assert not {"pickle", "marshal", "shelve", "joblib", "dill"} & set(imported)


def test_groups_of_states_become_paths_and_back():
    a, b = torch.ones(1), torch.zeros(2)
    groups = {"model": {"head.weight": a, "x/y": b}, "policy": {"s": b}}
    flat = flatten(groups)
    assert list(flat) == ["model/head.weight", "model/x/y", "policy/s"]
    assert unflatten(flat) == groups


def test_an_empty_group_leaves_no_trace():
    assert flatten({"policy": {}}) == {}
    assert unflatten({}) == {}


def test_a_stacked_state_is_each_clients_own():
    first, second = unstacked({"w": torch.tensor([[1.0], [2.0]]), "n": torch.tensor([3, 4])}, 2)
    assert (first["w"].tolist(), first["n"].item()) == ([1.0], 3)
    assert (second["w"].tolist(), second["n"].item()) == ([2.0], 4)


def test_clients_without_tensors_have_empty_states():
    assert unstacked({}, 2) == [{}, {}]
