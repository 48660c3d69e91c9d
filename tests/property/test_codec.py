"""Whatever is encoded comes back; whatever was not encoded by us is refused, never obeyed."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.errors import EngineError

QUICK = settings(max_examples=60, deadline=None)
arrays = st.sampled_from(["?", "u1", "i2", "i4", "i8", "f2", "f4", "f8"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(lambda n: n != "__metadata__")
tensors = st.dictionaries(names, arrays, max_size=4)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@QUICK
@given(st.dictionaries(st.text(max_size=5), plain, max_size=3), tensors)
def test_round_trip(header: dict[str, object], given_: dict[str, np.ndarray]) -> None:
    found, back = decode(encode(header, {name: torch.from_numpy(array) for name, array in given_.items()}))
    assert found == header
    assert back.keys() == given_.keys()
    for name, array in given_.items():
        assert back[name].numpy().dtype == array.dtype
        assert back[name].shape == array.shape
        assert back[name].numpy().tobytes() == array.tobytes()


@QUICK
@given(st.binary(max_size=200))
def test_noise_is_refused(data: bytes) -> None:
    with suppress(EngineError):
        decode(data)
        raise AssertionError("noise was taken for a message")


WHOLE = encode({"client": 3}, {"w": torch.arange(6.0)})


@QUICK
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_one_damaged_byte_never_raises_anything_but_an_engine_error(place: int, change: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[place] ^= change
    with suppress(EngineError):
        decode(bytes(damaged))


group = st.text(st.characters(exclude_characters="/", exclude_categories=["Cs"]), min_size=1, max_size=6)


@QUICK
@given(
    st.dictionaries(group, st.dictionaries(names, st.builds(torch.tensor, st.integers(0, 9)), min_size=1), max_size=3)
)
def test_flatten_is_undone_by_unflatten(groups: dict[str, dict[str, torch.Tensor]]) -> None:
    assert unflatten(flatten(groups)) == groups
