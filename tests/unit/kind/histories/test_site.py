from __future__ import annotations

import json
from dataclasses import replace

import pytest

from equipoise.config.loader import load
from equipoise.core.errors import ConfigError
from equipoise.core.values import Question, Task
from equipoise.engine.node import Node
from equipoise.kind.histories.site import TOGETHER, HistorySite, needs_of
from equipoise.memory.settings import HistoryNeeds
from equipoise.method.resolve import resolve
from equipoise.run.build import build
from tests.conftest import assert_same_update, tiny

SMALL = ("data=planted", "data.users=12", "model.width=8", "model.blocks=1", "model.length=6")


@pytest.fixture(scope="module")
def site() -> HistorySite:
    found = build(load("rec/sasrec", [*SMALL, "rounds=2"]).config).site
    assert isinstance(found, HistorySite)
    return found


def test_a_client_has_one_users_targets(site):
    assert site.n_clients == 12
    for client in (0, 5, 11):
        expected = int(site.histories.train_end[client]) - 1  # the first item is no target
        assert site.counts(client).tolist() == [expected]
        assert site.samples(client) == expected
    assert site.is_listed


def test_as_many_clients_on_one_axis_as_asked_for_or_eight(site):
    assert site.together == site.config.engine.together
    free = site.config.model_copy(update={"engine": site.config.engine.model_copy(update={"together": None})})
    assert replace(site, config=free).together == TOGETHER == 8


def test_what_is_shared_makes_the_same_site_again_without_what_no_client_needs(site):
    arrays, facts = site.shared()
    back = HistorySite.of_shared(site.config, site.method, arrays, json.loads(json.dumps(facts)))
    assert [users.tolist() for users in back.users] == [users.tolist() for users in site.users]
    assert (back.histories.validation_at == -1).all()
    assert (back.histories.test_at == -1).all()
    assert back.histories.interactions.times is None
    task = Task(0, 3, range(1), build(site.config).start)
    assert_same_update(Node(back).work([task])[0], Node(site).work([task])[0])


def test_histories_answer_no_questions(site):
    task = Task(0, 3, range(0), {}, question=Question("energies", "own"))
    with pytest.raises(ConfigError, match="users' histories answer no questions") as caught:
        Node(site).work([task])
    assert caught.value.where == "server.predict"


def test_a_method_that_was_not_written_for_histories_needs_nothing_of_them():
    assert needs_of(resolve(tiny())) == HistoryNeeds(memory=None, prototypes=0, negatives=0)


def test_what_a_recommenders_method_needs():
    config = load("rec/feddmmr", [*SMALL, "method.common=4", "method.prototypes=3", "method.loss=sampled"]).config
    needs = needs_of(resolve(config))
    assert (needs.prototypes, needs.negatives) == (3, config.method.negatives)
    assert needs.memory == config.method.store
    plain = needs_of(resolve(load("rec/feddmmr", [*SMALL, "method.memory=recent", "method.loss=unmet"]).config))
    assert (plain.memory, plain.prototypes, plain.negatives) == (None, 0, 0)
