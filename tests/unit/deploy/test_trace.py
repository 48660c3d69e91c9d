from __future__ import annotations

import torch

from equipoise.client.own import COMMON
from equipoise.core.values import ClientState, ClientUpdate
from equipoise.deploy.trace import trace
from equipoise.models.classifier import ModelOutput
from equipoise.server.predict import Merged, ServerView

ONE = torch.ones(1)
MERGED = Merged(
    {"w": ONE, "head.prototypes": ONE},
    [ClientUpdate(k, 1, {"w": ONE * k}, ClientState(report={"sums": ONE}), {}, [1]) for k in (3, 5)],
    {"means": ONE, "counts": ONE},
)
VIEW = ServerView(
    lambda state: ModelOutput(ONE, ONE), lambda state: ModelOutput(ONE, ONE), {3: {"m": ONE}, 5: {"m": ONE}}
)


def test_models_that_are_asked_and_tensors_that_are_read_are_told_apart():
    def predict(view, merged):
        view.outputs(merged.clients[1].model)
        return merged.model["head.prototypes"] + merged.broadcast["means"] + view.answers[3]["m"]

    reads = trace(predict, VIEW, MERGED)
    assert reads.models.keys() == {"client-5"}
    assert {group: list(state) for group, state in reads.values.items()} == {
        "merged": ["head.prototypes"], "broadcast": ["means"], "answer-3": ["m"],
    }  # fmt: skip
    assert (reads.clients, reads.common, reads.noise) == (True, False, False)


def test_what_is_read_to_make_something_once_stays_behind():
    def predict(view, merged):
        def head():
            view.noise(merged.model)
            return torch.stack([client.model["w"] + view.answers[client.client]["m"] for client in merged.clients])

        return view.once("head", head) + view.outputs(COMMON).features

    reads = trace(predict, VIEW, MERGED)
    assert {group: list(state) for group, state in reads.values.items()} == {"once": ["head"]}
    assert reads.values["once"]["head"].flatten().tolist() == [4, 6]
    assert (reads.models, reads.clients, reads.common, reads.noise) == ({}, False, True, False)


def test_a_state_that_is_made_once_and_asked_is_a_model():
    def predict(view, merged):
        return view.outputs(view.once("soup", lambda: {"w": merged.model["w"] * 2})).logits

    reads = trace(predict, VIEW, MERGED)
    assert reads.models.keys() == {"once-soup"}
    assert reads.outside_models() == {}


def test_a_state_that_is_made_each_time_needs_a_network_and_what_it_is_made_of():
    def predict(view, merged):
        return view.outputs({"w": merged.clients[0].model["w"]}).logits

    reads = trace(predict, VIEW, MERGED)
    assert reads.models.keys() == {"other"}
    assert reads.outside_models().keys() == {"client-3"}
