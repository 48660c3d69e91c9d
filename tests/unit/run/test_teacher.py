from __future__ import annotations

import numpy as np
import pytest
import torch
from equipoise.run.teacher import first_broadcast

from equipoise.config.loader import Request
from equipoise.run import session
from equipoise.run.build import Federation, build
from equipoise.run.checkpoint import pack, unpack
from equipoise.run.loop import first_snapshot
from equipoise.run.session import resume, start
from equipoise.run.watch import Nobody
from equipoise.store import read
from tests.conftest import assert_same, one_shot, records, tiny, untouched_rng

from .conftest import Breaks

POOL = ("method=two-stage", "data.public=0.2", "client.augment=two-view", "method.teacher_epochs=2")
CONFIG = one_shot(*POOL, "method.cycle=2")


@pytest.fixture(scope="module")
def federation() -> Federation:
    return build(CONFIG)


@pytest.fixture(scope="module")
def broadcast(federation):
    return first_broadcast(federation)


def test_features_of_the_whole_pool_by_their_direction_with_their_labels(federation, broadcast):
    pool = federation.scorer.splits.public
    assert broadcast.keys() == {"public.features", "public.labels"}
    assert broadcast["public.features"].shape == (len(pool), 16) == (40, 16)  # a fifth of 200 images
    assert torch.allclose(broadcast["public.features"].norm(dim=1), torch.ones(40), atol=1e-5)
    assert sorted(broadcast["public.labels"].tolist()) == sorted(pool.labels.tolist())


def test_fewer_where_fewer_are_asked_for_each_image_once(federation, broadcast):
    few = first_broadcast(build(one_shot(*POOL, "method.cycle=2", "method.features=15")))
    assert few["public.labels"].tolist() == broadcast["public.labels"][:15].tolist()
    # 15 images in one pass are another product than 40: sums of 192 terms, of features of length 1
    torch.testing.assert_close(few["public.features"], broadcast["public.features"][:15], rtol=0, atol=192 * 2**-24)
    assert len(set(map(tuple, broadcast["public.features"].tolist()))) == 40


def test_it_is_the_same_every_time_and_draws_from_no_global_generator(federation, broadcast):
    with untouched_rng():
        assert_same(first_broadcast(federation), broadcast)
    assert_same(first_broadcast(build(CONFIG)), broadcast)
    other = first_broadcast(build(one_shot(*POOL, "method.cycle=2", "seed=1")))
    assert not torch.equal(other["public.features"], broadcast["public.features"])


def test_the_teacher_has_learned_from_the_common_start(federation, broadcast):
    scorer = federation.scorer
    seen = scorer.seen(federation.start, scorer.splits.public.pixels).features
    untaught = torch.nn.functional.normalize(seen, dim=1)
    rows = torch.cdist(broadcast["public.features"], untaught).amin(1)
    assert rows.max() > 1e-3
    longer = first_broadcast(build(one_shot(*POOL, "method.cycle=2", "method.teacher_epochs=3")))
    assert not torch.equal(longer["public.features"], broadcast["public.features"])


def test_clients_start_where_they_would_have_without_a_teacher(federation):
    plain = build(one_shot("method=fafi", "data.public=0.2", "client.augment=two-view"))
    assert_same(federation.start, plain.start)
    assert_same(first_snapshot(federation).server.model, plain.start)


def test_a_method_without_a_teacher_sends_nothing():
    assert first_broadcast(build(tiny("data.public=0.2"))) == {}


def test_the_gift_is_part_of_every_checkpoint(broadcast):
    for record in records(CONFIG):
        assert_same(record.snapshot.broadcast, broadcast)
        assert_same(unpack(pack(record.snapshot)).broadcast, broadcast)


def test_a_resumed_run_keeps_the_gift_and_asks_no_teacher_again(store, monkeypatch):
    expected = [row for record in records(CONFIG) for row in record.rows if row.name != "seconds"]
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(CONFIG, None), Breaks(KeyboardInterrupt(), 0))
    run = read.find_run(store, "latest")
    monkeypatch.setattr(session, "first_snapshot", None)
    resume(store, run, Nobody())
    found = [row for row in read.rows(store, run.run_id) if row.name != "seconds"]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert all(np.isfinite(row.value) for row in found)
