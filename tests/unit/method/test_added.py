"""What a configuration adds to a method: terms of the local loss, another merge."""

from __future__ import annotations

import pytest
import torch

from equipoise.config.check import check
from equipoise.core.errors import ConfigError, PluginError
from equipoise.core.registry import AGGREGATES, METHODS, TERMS
from equipoise.core.values import ClientState, ClientUpdate
from equipoise.method.added import added
from equipoise.method.answers import Method
from equipoise.method.resolve import resolve
from equipoise.server.merge import ServerState
from tests.conftest import numbers, records, tiny

pytestmark = pytest.mark.usefixtures("own_plugins")


def test_a_term_adds_its_weight_times_itself_to_the_base():
    """loss/base = loss/cls + loss/one, where one is 1 for every batch."""

    @TERMS.register("one")
    def one(view):
        return torch.ones(())

    seen = {row.name: row.value for row in records(tiny("client.terms.one=0.25"))[0].rows if row.client == 0}
    assert seen["loss/one"] == 0.25
    assert seen["loss/base"] == pytest.approx(seen["loss/cls"] + 0.25)


def test_an_aggregate_takes_the_place_of_the_mean():
    @AGGREGATES.register("first")
    def first(options):
        return lambda state, updates: ServerState(min(updates, key=lambda update: update.client).model)

    method = resolve(tiny("server.aggregate=first"))
    updates = [ClientUpdate(k, 1, {"w": torch.tensor(float(k))}, ClientState(), {}) for k in (2, 1)]
    assert method.merge(ServerState({"w": torch.zeros(())}), updates).model["w"] == 1.0


def test_the_mean_by_name_is_the_mean_and_momentum_that_of_fedavgm():
    plain = numbers(records(tiny()))
    assert numbers(records(tiny("server.aggregate=mean"))) == plain
    ours = numbers(records(tiny("server.aggregate=momentum", "server.aggregate.beta=0.5")))
    assert ours == numbers(records(tiny("method=fedavgm", "method.beta=0.5"))) != plain


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "fedadam"}, "method 'fedadam' merges in its own way; 'mean' would do nothing"),
        ({"method": "fafi"}, "method 'fafi' merges in its own way"),
        ({"method": "local-only"}, "has no models of several clients to merge"),
        ({"communication": "one-shot"}, "belongs to communication=rounds"),
    ],
)
def test_a_merge_that_would_do_nothing_is_refused_without_torch(settings, said):
    with pytest.raises(ConfigError, match=f"server.aggregate: .*{said}|{said}"):
        check({**settings, "server": {"aggregate": "mean"}})


def test_a_plugins_method_with_a_merge_of_its_own_is_refused_though_it_does_not_say_so():
    @METHODS.register("own-merge")
    def own_merge(options):
        return Method(merge=lambda state, updates: state)

    with pytest.raises(ConfigError, match="merges in its own way"):
        resolve(tiny("method=own-merge", "server.aggregate=mean"))


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        ({"server": {"aggregate": "mena"}}, "server.aggregate", "did you mean 'mean'?"),
        ({"server": {"aggregate": {"name": "adam", "lrr": 1}}}, "server.aggregate.lrr", "did you mean 'lr'?"),
        ({"server": {"aggregate": {"name": "adam", "lr": -1}}}, "server.aggregate.lr", "greater than 0"),
        ({"server": {"aggregate": 3}}, "server.aggregate", "expected a name or a block of settings, got 3"),
        ({"client": {"terms": {"contrst": 1}}}, "client.terms.contrst", "did you mean 'contrast'?"),
    ],
)
def test_wrong_settings_are_named(given, key, said):
    with pytest.raises(ConfigError) as caught:
        check(given)
    (problem,) = caught.value.problems
    assert problem.path == key
    assert said in problem.message


def test_a_term_that_the_method_has_already_is_refused():
    @TERMS.register("cls")
    def cls(view):
        return view.cross_entropy(view.logits)

    with pytest.raises(ConfigError, match="method 'fedavg' cannot take the terms cls"):
        resolve(tiny("client.terms.cls=1"))


def test_a_merge_of_the_wrong_shape_is_named():
    @AGGREGATES.register("bad")
    def bad(options):
        return lambda updates: None

    with pytest.raises(
        PluginError, match=r"the merge of aggregate 'bad' has the wrong signature: expected \(state, up"
    ):
        resolve(tiny("server.aggregate=bad"))


def test_a_method_that_gives_no_method_is_named():
    @METHODS.register("nothing")
    def nothing(options):
        return None

    with pytest.raises(PluginError, match="method 'nothing' gives no Method"):
        resolve(tiny("method=nothing"))


def test_nothing_asked_nothing_added():
    config = tiny()
    method = resolve(config)
    assert added(method, config) is method
