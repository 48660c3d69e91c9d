"""The closed-form head depends on the images alone: neither on who holds them nor on the unit of a feature."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.server.ridge import applied, solved, sums

QUICK = settings(max_examples=60, deadline=None)
N, D, C, K = 12, 3, 3, 4
# eighths are exact in every sum, so what is equal is equal to the last bit
eighth = st.integers(-40, 40).map(lambda n: n / 8)
images = st.lists(
    st.tuples(st.lists(eighth, min_size=D, max_size=D), st.integers(0, C - 1)), min_size=N, max_size=3 * N
)


def tensors(given_: list[tuple[list[float], int]]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([x for x, _ in given_], dtype=torch.float64), torch.tensor([y for _, y in given_])


@QUICK
@given(images, st.data())
def test_any_division_of_the_images_gives_the_same_head(given_, data) -> None:
    features, labels = tensors(given_)
    owner = torch.tensor(data.draw(st.lists(st.integers(0, K - 1), min_size=len(labels), max_size=len(labels))))
    parts = [sums(features[owner == k], labels[owner == k], C) for k in range(K)]  # some may be empty
    whole = solved([sums(features, labels, C)])
    assert torch.equal(solved(parts), whole)
    assert torch.equal(solved(parts[::-1]), whole)


@QUICK
@given(images, st.lists(st.integers(-6, 6), min_size=D, max_size=D))
def test_the_unit_of_a_feature_does_not_matter(given_, powers) -> None:
    features, labels = tensors(given_)
    varies = features.std(0) > 0
    unit = torch.where(varies, 2.0 ** torch.tensor(powers, dtype=torch.float64), 1.0)
    plain, scaled = (applied(solved([sums(x, labels, C)]), x) for x in (features, features * unit))
    assert torch.allclose(plain, scaled, rtol=1e-9, atol=1e-9)


@QUICK
@given(images)
def test_scores_add_up_to_one(given_) -> None:
    """One-hot targets do, and a ridge with a free intercept keeps it."""
    features, labels = tensors(given_)
    answers = applied(solved([sums(features, labels, C)]), features)
    assert torch.allclose(answers.sum(1), torch.ones(len(labels), dtype=torch.float64), atol=1e-9)
    assert torch.isfinite(answers).all()
