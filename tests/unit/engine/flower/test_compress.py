from __future__ import annotations

import pytest
import torch

from equipoise.core.codec import decode, encode
from equipoise.core.errors import EngineError
from equipoise.engine.flower.compress import rounded, squeezed, unrounded, unsqueezed

pytest.importorskip("zstandard", reason="needs pip install 'equipoise[flower]'")


def a_message(tensor: torch.Tensor) -> bytes:
    names = ("all:sent/weight", "0:report/sums", "0:optimiser/m")
    return encode({"results": []}, {name: tensor.clone() for name in names})


def test_what_is_squeezed_comes_back_byte_for_byte():
    body = a_message(torch.randn(40, 3, generator=torch.Generator().manual_seed(0)))
    assert unsqueezed(squeezed(body)) == body
    assert len(squeezed(encode({}, {"zeros": torch.zeros(10_000)}))) < 1_000


@pytest.mark.parametrize(("how", "share"), [("fp16", 2**-11), ("int8", 1 / 254)])
def test_the_error_is_within_the_stated_bound(how, share):
    """fp16: 2⁻¹¹ |x|, so at most 2⁻¹¹ max|x|; int8: half a step of max|x| / 127."""
    tensor = torch.randn(500, generator=torch.Generator().manual_seed(1))
    found = rounded(a_message(tensor), how)
    _, tensors = decode(unrounded(found.body))
    error = float((tensors["all:sent/weight"] - tensor).abs().max())
    assert error == pytest.approx(found.error)
    assert 0 < found.error <= share * float(tensor.abs().max()) * (1 + 1e-6)


def test_only_models_are_rounded():
    tensor = torch.randn(50, generator=torch.Generator().manual_seed(2))
    _, tensors = decode(unrounded(rounded(a_message(tensor), "int8").body))
    assert torch.equal(tensors["0:report/sums"], tensor)
    assert torch.equal(tensors["0:optimiser/m"], tensor)
    assert not torch.equal(tensors["all:sent/weight"], tensor)


@pytest.mark.parametrize("how", ["fp16", "int8"])
@pytest.mark.parametrize("value", [0.0, 1e6, float("nan"), float("inf")])
def test_zeros_and_what_does_not_fit_come_back_as_they_were(how, value):
    tensor = torch.full((3,), value)
    _, tensors = decode(unrounded(rounded(a_message(tensor), how).body))
    assert torch.allclose(tensors["all:sent/weight"], tensor, rtol=1e-6, equal_nan=True)


def test_what_is_not_compressed_is_refused():
    with pytest.raises(EngineError, match="cannot be decompressed"):
        unsqueezed(b"nothing of ours")


def test_a_rounded_tensor_that_is_missing_is_refused():
    with pytest.raises(EngineError, match="does not have"):
        unrounded(encode({"rounded": ["all:sent/weight"]}, {}))
