"""The checks that are offered to plugins fail where a promise is broken, and say which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from equipoise import testing
from equipoise.core.registry import AGGREGATES, BALANCES, DATASETS, METHODS, PREDICTS, SPLITTERS
from equipoise.core.values import Dataset, Images
from equipoise.method.answers import Method
from equipoise.server.mean import mean

pytestmark = pytest.mark.usefixtures("own_plugins")


def test_a_merge_that_goes_by_the_order_of_answers():
    @AGGREGATES.register("first-come")
    def first_come(options):
        return lambda state, updates: replace(state, model=dict(updates[0].model))

    with pytest.raises(AssertionError, match="is not the same to the last bit"):
        testing.check_merge("first-come")


def test_a_merge_that_loses_a_weight():
    @AGGREGATES.register("loses")
    def loses(options):
        return lambda state, updates: replace(state, model={"w": mean(state, updates).model["w"]})

    with pytest.raises(AssertionError, match="has other names"):
        testing.check_merge("loses")


def test_a_method_that_draws_from_a_global_generator():
    def noisy(state, updates):
        torch.rand(1)
        return mean(state, updates)

    @METHODS.register("noisy")
    def method(options):
        return Method(merge=noisy)

    with pytest.raises(AssertionError, match="drew from the global generator of torch"):
        testing.check_method("noisy")


def test_a_method_that_remembers_outside_of_its_state():
    calls = []

    def counting(state, updates):
        calls.append(1)
        found = mean(state, updates)
        return replace(found, model={key: value + len(calls) for key, value in found.model.items()})

    @METHODS.register("forgetful")
    def method(options):
        return Method(merge=counting)

    with pytest.raises(AssertionError, match=r"depend on which client answers first|a resumed run has other numbers"):
        testing.check_method("forgetful")


def test_a_policy_that_starts_with_nothing_finite():
    from equipoise.balance.constant import ConstantOptions, constant

    @BALANCES.register("lost", options=ConstantOptions)
    def policy(options):
        return replace(constant(options), start=lambda counts: {"a": torch.tensor(float(counts[1])).log()})

    with pytest.raises(AssertionError, match=r"'a' starts as -inf for label counts \[1, 0, 0\]|'a' starts as"):
        testing.check_policy("lost")


def test_a_predictor_that_gives_no_probabilities():
    @PREDICTS.register("raw")
    def raw(view, merged):
        return view.outputs(merged.model).logits

    with pytest.raises(AssertionError, match=r"below zero|do not add up to one"):
        testing.check_predictor("raw")


def test_a_splitter_with_a_generator_of_its_own():
    draws = np.random.default_rng()

    @SPLITTERS.register("own-dice")
    def split(labels, n_classes, options, rng):
        owner = draws.permutation(len(labels)) % options.clients
        return [np.flatnonzero(owner == client) for client in range(options.clients)]

    with pytest.raises(AssertionError, match="the same seed gives another split"):
        testing.check_splitter("own-dice")


def test_a_data_set_that_is_another_one_each_time():
    draws = np.random.default_rng()

    @DATASETS.register("fleeting")
    def fleeting(options, folder):
        images = Images(draws.integers(0, 256, (20, 1, 4, 4), dtype=np.uint8), np.arange(20) % 2)
        return Dataset("fleeting", images, images, ("a", "b"), (0.5,), (0.2,))

    with pytest.raises(AssertionError, match="another one when it is read again"):
        testing.check_dataset("fleeting")


def test_a_rule_that_does_not_name_its_run():
    run = testing.recording_of(server={"hr@10/uni100": [0.5]})
    with pytest.raises(AssertionError, match="does not name the run that shows its failure"):
        testing.check_rule("too-good", run, run)
    with pytest.raises(AssertionError, match="'too-good' lacks"):
        testing.check_rule("too-good", testing.recording_of(), run)
