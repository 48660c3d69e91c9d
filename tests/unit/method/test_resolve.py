from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.balance.policy import Balance
from equipoise.config.check import check
from equipoise.core.errors import ConfigError
from equipoise.core.registry import METHODS
from equipoise.method.answers import NO_LAMBDA, Resolved
from equipoise.method.resolve import resolve
from equipoise.models.heads import PROTOTYPES
from equipoise.server.mean import mean
from equipoise.server.merge import ServerState
from tests.conftest import for_images, needs, one_shot, tiny, update


@pytest.mark.parametrize("name", for_images(METHODS))
def test_the_method_of_a_configuration(name):
    method = resolve(tiny(f"method={name}", *needs(name)))
    assert method.headline.startswith("accuracy/")
    assert isinstance(method, Resolved)
    assert isinstance(method.balance, Balance)
    assert callable(method.objective)
    assert callable(method.merge)


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "fafi"])
def test_a_policy_for_a_method_that_chooses_lam_itself_is_refused(name):
    with pytest.raises(ConfigError, match=f"method '{name}' chooses λ itself; 'annealed' would do nothing") as caught:
        resolve(tiny(f"method={name}", "balance=v7"))
    assert "set balance=none, or method=etf-align" in str(caught.value)
    assert isinstance(resolve(tiny(f"method={name}", "balance=v4")).balance, Balance)  # nobody's policy


def test_a_method_that_leaves_lam_open_takes_the_configurations_policy():
    method = resolve(tiny("method=etf-align", "balance=decoupled", "balance.sigma.lr=0.25"))
    assert method.balance.learning is not None
    assert method.balance.learning.lr == 0.25


def test_prototypes_are_merged_and_predict_as_the_server_block_says():
    ones, twos = ({PROTOTYPES: torch.tensor([[length, 0.0]])} for length in (1.0, 3.0))
    updates = [replace(update(k, 10, state), counts=[10]) for k, state in enumerate((ones, twos))]
    for kind, length in ((None, 2.0), ("plain", 2.0), ("unit", 1.0), ("counts", 2.0)):
        method = resolve(tiny("method=fafi", *([f"server.merge={kind}"] if kind else [])))
        assert method.merge(ServerState({}), updates).model[PROTOTYPES].tolist() == [[length, 0.0]]
    assert resolve(tiny("method=fafi")).predict == "feature-average"
    assert resolve(tiny("method=fafi", "server.predict=iffi")).predict == "iffi"
    assert resolve(tiny("server.predict=energy-gate")).predict == "energy-gate"


@pytest.mark.parametrize(
    ("overrides", "key", "message"),
    [
        (("server.merge=unit",), "server.merge", "method 'fedavg' has no prototypes to merge"),
        (("server.predict=anchors",), "server.predict", "'anchors' needs prototypes, which method 'fedavg' has not"),
        (("server.predict=nearest-mean",), "server.predict", "'nearest-mean' needs class means"),
        (("method=local-only", "server.predict=common"), "server.predict", "'local-only' merges nothing that could"),
        (("method=two-stage",), "data.public", "method 'two-stage' needs a public pool: set data.public=0.1"),
        (("method=public-bank",), "data.public", "method 'public-bank' needs a public pool"),
    ],
)
def test_what_a_method_does_not_leave_open_is_refused(overrides, key, message):
    with pytest.raises(ConfigError) as caught:
        resolve(tiny(*overrides))
    ((at, said),) = caught.value.problems
    assert at == key
    assert message in said


def test_all_that_is_refused_is_listed_together():
    with pytest.raises(ConfigError) as caught:
        resolve(tiny("balance=v7", "server.merge=unit", "server.predict=iffi"))
    assert {problem.path for problem in caught.value.problems} == {"balance", "server.merge", "server.predict"}


def test_answers_that_a_method_gives_stay_what_they_are():
    entry = METHODS.find("fedproto")
    given, resolved = entry.make(entry.options()), resolve(tiny("method=fedproto"))
    assert (resolved.merge, resolved.predict) == (given.merge, "nearest-mean")
    assert (resolved.exchange.down, resolved.exchange.up) == (False, True)
    assert resolved.stacks
    assert resolve(tiny()).merge is mean
    assert resolve(tiny()).balance is NO_LAMBDA


def test_a_method_without_an_objective_gets_the_plain_loss_of_its_data_which_stacks():
    """Cross-entropy of labelled samples, the next item of histories; both can be mapped over clients."""
    for data, room in (("digits", "equipoise.objective.compose"), ("planted", "equipoise.objective.recommend")):
        method = resolve(check({"data": data, "method": "fedavg"}))
        assert method.objective.__module__ == room
        assert method.stacks


@pytest.mark.parametrize(
    ("config", "carries"),
    [
        (tiny(), False),
        (tiny("method=local-only"), True),
        (tiny("method=centralised"), True),
        (tiny("method=fedproto"), True),
        (one_shot(), True),
        (one_shot("method=fafi"), True),
    ],
    ids=lambda value: f"{value.method.name}-{value.communication}" if hasattr(value, "method") else str(value),
)
def test_clients_go_on_from_their_own_model_where_nothing_is_sent_down(config, carries):
    assert resolve(config).carries is carries
