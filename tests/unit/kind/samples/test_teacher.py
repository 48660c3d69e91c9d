from __future__ import annotations

import pytest
import torch

from equipoise.core.errors import ClientError
from equipoise.core.values import State
from equipoise.models.build import state_of
from equipoise.run.build import Federation, build
from equipoise.run.loop import first_snapshot
from tests.conftest import assert_same, one_shot, tiny, untouched_rng

POOL = ("method=two-stage", "data.public=0.2", "client.augment=two-view", "method.teacher_epochs=2")
CONFIG = one_shot(*POOL, "method.cycle=2")


@pytest.fixture(scope="module")
def federation() -> Federation:
    return build(CONFIG)


def sent(federation: Federation) -> State:
    return federation.first_broadcast(federation.start)


@pytest.fixture(scope="module")
def broadcast(federation):
    return sent(federation)


def test_features_of_the_whole_pool_by_their_direction_with_their_labels(federation, broadcast):
    pool = federation.judge.evaluator.splits.public
    assert broadcast.keys() == {"public.features", "public.labels"}
    assert broadcast["public.features"].shape == (len(pool), 16) == (40, 16)  # a fifth of 200 images
    assert torch.allclose(broadcast["public.features"].norm(dim=1), torch.ones(40), atol=1e-5)
    assert sorted(broadcast["public.labels"].tolist()) == sorted(pool.labels.tolist())


def test_fewer_where_fewer_are_asked_for_each_image_once(federation, broadcast):
    few = sent(build(one_shot(*POOL, "method.cycle=2", "method.features=15")))
    assert few["public.labels"].tolist() == broadcast["public.labels"][:15].tolist()
    # 15 images in one pass are another product than 40: sums of 192 terms, of features of length 1
    torch.testing.assert_close(few["public.features"], broadcast["public.features"][:15], rtol=0, atol=192 * 2**-24)
    assert len(set(map(tuple, broadcast["public.features"].tolist()))) == 40


def test_it_is_the_same_every_time_and_draws_from_no_global_generator(federation, broadcast):
    with untouched_rng():
        assert_same(sent(federation), broadcast)
    assert_same(sent(build(CONFIG)), broadcast)
    other = sent(build(one_shot(*POOL, "method.cycle=2", "seed=1")))
    assert not torch.equal(other["public.features"], broadcast["public.features"])


def test_the_teacher_has_learned_from_the_common_start(federation, broadcast):
    evaluator = federation.judge.evaluator
    seen = evaluator.outputs(federation.start, evaluator.splits.public.inputs).features
    untaught = torch.nn.functional.normalize(seen, dim=1)
    rows = torch.cdist(broadcast["public.features"], untaught).amin(1)
    assert rows.max() > 1e-3
    longer = sent(build(one_shot(*POOL, "method.cycle=2", "method.teacher_epochs=3")))
    assert not torch.equal(longer["public.features"], broadcast["public.features"])


def test_clients_start_where_they_would_have_without_a_teacher(federation):
    plain = build(one_shot("method=fafi", "data.public=0.2", "client.augment=two-view"))
    assert_same(federation.start, plain.start)
    assert_same(first_snapshot(federation).server.model, plain.start)


def test_a_method_without_a_teacher_sends_nothing():
    assert sent(build(tiny("data.public=0.2"))) == {}
    assert_same(first_snapshot(build(tiny("data.public=0.2"))).broadcast, {})


def test_the_teacher_leaves_the_evaluators_network_alone(federation):
    evaluator = federation.judge.evaluator
    evaluator.model.load_state_dict(dict(federation.start))
    sent(federation)
    assert_same(state_of(evaluator.model), federation.start)


def test_a_teacher_whose_numbers_are_not_finite_is_named():
    with pytest.raises(ClientError, match=r"the server's teacher failed: .*loss/base is (nan|inf)"):
        sent(build(one_shot(*POOL, "method.cycle=2", "client.lr=1e30")))
