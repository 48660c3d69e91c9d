from __future__ import annotations

import pytest

from equipoise.config.loader import Request, load
from equipoise.core.errors import ConfigError
from equipoise.run.fuse import Server, fuse
from equipoise.run.fuse_sums import fuse_sums
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import metrics, read
from equipoise.store.database import open_store

SMALL = ("data.users=24", "data.length=24", "data.items=160", "rounds=2", "server.fraction=0.5")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with open_store(tmp_path_factory.mktemp("fuse") / "runs.db") as store:
        yield store


@pytest.fixture(scope="module")
def trained(opened):
    return run_of(opened, *SMALL)


def run_of(store, *settings):
    return read.find_run(store, start(store, Request(load("rec/sasrec", settings).config, None), Nobody()))


def test_sums_added_afterwards_are_those_of_a_run_that_had_them_from_the_start(opened, trained):
    (fused,) = fuse_sums(opened, trained, ["blend"])
    (again,) = fuse_sums(opened, trained, ["blend"])
    assert again == fused, "what was fused before is found again"
    whole = run_of(opened, *SMALL, "server.sums=blend")
    found, expected = (metrics.final_metrics(opened, one) for one in (fused, whole.run_id))
    for name in ("hr@10/full", "ndcg@10/full", "hr@10/uni100", "blend/sums", "blend/ridge", "bytes/told"):
        assert found[name] == expected[name], name
    totals = [sum(row.value for row in read.rows(opened, one, names=["bytes/up"], client="server"))
              for one in (fused, whole.run_id)]  # fmt: skip
    assert totals[0] == totals[1]
    record = read.find_run(opened, fused)
    assert record.status == "done"
    assert record.config["server"]["sums"] == "blend"
    assert [event.event.detail["from"] for event in read.events(opened, fused) if event.event.kind == "fused"] == [
        trained.run_id
    ]


def test_an_unknown_score_is_refused(opened, trained):
    with pytest.raises(ConfigError, match=r"server.sums: Input should be 'markov', 'ridge' or 'blend'"):
        fuse_sums(opened, trained, ["markow"])


def test_other_servers_of_recommenders_are_refused_with_what_there_is(opened, trained):
    with pytest.raises(ConfigError, match="there is no other way to predict") as raised:
        fuse(opened, trained, [Server(predict="logit-ensemble")])
    assert "--sums" in raised.value.fix


def test_a_run_that_is_made_of_sums_is_refused(opened):
    run = read.find_run(opened, start(opened, Request(load("rec/analytic", SMALL[:3]).config, None), Nobody()))
    with pytest.raises(ConfigError, match="is made of such sums"):
        fuse_sums(opened, run, ["blend"])
