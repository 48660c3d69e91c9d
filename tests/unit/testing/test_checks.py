"""The checks that are offered to plugins fail where a promise is broken, and say which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from equipoise import testing
from equipoise.config.blocks import SampleOptions
from equipoise.core.errors import PluginError
from equipoise.core.registry import AGGREGATES, BALANCES, DATASETS, ENGINES, KINDS, METHODS, PREDICTS, SPLITTERS
from equipoise.core.values import Dataset, Images
from equipoise.engine.local import Local
from equipoise.kind.record import Kind
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


def test_an_engine_that_loses_a_client():
    @ENGINES.register("careless")
    class Careless(Local):
        def map(self, tasks):
            return iter(list(super().map(tasks))[:2])

    with pytest.raises(AssertionError, match=r"results of clients \[0, 1\], not one for each task"):
        testing.check_engine("careless")


def test_an_engine_that_rounds_what_clients_send():
    @ENGINES.register("coarse")
    class Coarse(Local):
        def map(self, tasks):
            for result in super().map(tasks):
                half = {name: tensor.half().to(tensor.dtype) for name, tensor in result.model.items()}
                yield replace(result, model=half)

    with pytest.raises(AssertionError, match="is not the same to the last bit"):
        testing.check_engine("coarse")


class OddOptions(SampleOptions):
    name: str = "odd"


def odd_kind(**members: object) -> None:
    """A kind like tabular rows, but for some members, and a set of that kind."""
    tabular: Kind = KINDS.find("tabular").make
    KINDS.register("odd", module=__name__)(replace(tabular, name="odd rows", options=OddOptions, **members))
    DATASETS.register("odd", options=OddOptions)(lambda options, folder: DATASETS.find("wine").make(options, folder))


def test_a_kind_that_names_what_is_not_there():
    odd_kind(common_encoder="equipoise.kind.tabular:encodr")
    with pytest.raises(PluginError, match=r"common_encoder of kind 'odd rows' is declared at .*encodr") as raised:
        testing.check_kind("odd", "odd")
    assert "module:name" in raised.value.fix


def test_a_kind_whose_default_model_needs_pixels():
    odd_kind(defaults={"partition": "dirichlet", "model": "cnn", "method": "fedavg"})
    with pytest.raises(AssertionError, match=r"model 'cnn' asks for more than \['labels'\]"):
        testing.check_kind("odd", "odd")


def test_a_set_of_another_kind():
    with pytest.raises(AssertionError, match="data 'digits' is of kind 'images', not 'tabular rows'"):
        testing.check_kind("tabular", "digits")
