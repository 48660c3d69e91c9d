"""What random filters say of an image does not depend on how the images are split over clients."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.server.common_gate import common
from equipoise.server.predict import Merged
from tests.unit.server.views import Training, answered, client

D, C, K = 3, 3, 4
eighth = st.integers(-16, 16).map(lambda n: n / 8)  # exact in the single precision in which sums travel
image = st.tuples(st.lists(eighth, min_size=D, max_size=D), st.integers(0, C - 1), st.integers(0, K - 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(image, min_size=1, max_size=30), st.lists(st.lists(eighth, min_size=D, max_size=D), min_size=1))
def test_the_split_does_not_matter(images, asked) -> None:
    sees = {"own.features": torch.tensor([x for x, _, _ in images]), "asked.features": torch.tensor(asked)}
    labels = [y for _, y, _ in images]

    def answers(owner: list[int]) -> torch.Tensor:
        owners = {k: [i for i, owned_by in enumerate(owner) if owned_by == k] for k in sorted(set(owner))}
        clients = [client(k, [sum(labels[i] == c for i in own) for c in range(C)]) for k, own in owners.items()]
        return answered(common, Merged({}, clients), Training(labels, owners, sees))

    split, pooled = answers([k for _, _, k in images]), answers([0] * len(images))
    assert torch.equal(split, pooled)
    assert torch.allclose(split.sum(1), torch.ones(len(asked)), atol=1e-6)
