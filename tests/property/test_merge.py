"""Merges do not depend on the order of the clients, and clients that agree are merged into themselves."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.values import ClientUpdate
from equipoise.models.classifier import ModelOutput
from equipoise.server.mean import mean, weighted_mean
from equipoise.server.merge import Merge, ServerState
from equipoise.server.optimise import adam, momentum
from equipoise.server.predict import Merged, logit_ensemble, probability_ensemble
from tests.conftest import assert_same, update, view

QUICK = settings(max_examples=80, deadline=None)
number = st.floats(-(2.0**60), 2.0**60, width=32)
vector = st.lists(number, min_size=3, max_size=3)
samples = st.integers(1, 10**6)
clients = st.lists(st.tuples(samples, vector, st.integers(0, 2**40)), min_size=1, max_size=6)
merges = st.sampled_from([mean, momentum(0.5, 0.9), adam(0.01, 0.9, 0.99, 1e-3)])


def updates_of(given_: list[tuple[int, list[float], int]]) -> list[ClientUpdate]:
    return [
        update(k, n, {"w": torch.tensor(w), "bn.num_batches_tracked": torch.tensor(count)})
        for k, (n, w, count) in enumerate(given_)
    ]


@QUICK
@given(clients, merges, st.randoms(use_true_random=False))
def test_the_order_of_the_updates_does_not_matter(given_, merge: Merge, random) -> None:
    updates = updates_of(given_)
    shuffled = list(updates)
    random.shuffle(shuffled)
    state = ServerState({"w": torch.zeros(3), "bn.num_batches_tracked": torch.tensor(0)})
    ours, theirs = merge(state, updates), merge(state, shuffled)
    assert_same(ours.model, theirs.model)
    assert_same(ours.memory, theirs.memory)


@QUICK
@given(st.lists(samples, min_size=1, max_size=8), vector)
def test_equal_inputs_are_merged_exactly(sizes: list[int], w: list[float]) -> None:
    model = {"w": torch.tensor(w)}
    assert_same(weighted_mean([update(k, n, model) for k, n in enumerate(sizes)]), model)


@QUICK
@given(clients)
def test_the_mean_lies_between_its_clients(given_) -> None:
    stacked = torch.stack([torch.tensor(w) for _, w, _ in given_])
    merged = weighted_mean(updates_of(given_))["w"]
    assert (merged <= stacked.amax(0)).all()
    assert (merged >= stacked.amin(0)).all()


@QUICK
@given(
    st.lists(st.tuples(samples, st.lists(st.floats(-50, 50, width=32), min_size=4, max_size=4)), min_size=1, max_size=5)
)
def test_ensembles_answer_with_probabilities(given_) -> None:
    updates = [update(k, n, {"logits": torch.tensor([logits])}) for k, (n, logits) in enumerate(given_)]
    for predict in (probability_ensemble, logit_ensemble):
        answer = predict(view(lambda state: ModelOutput(torch.zeros(1, 0), state["logits"])), Merged({}, updates))
        assert answer.min() >= 0
        assert abs(answer.sum().item() - 1) < 1e-5
