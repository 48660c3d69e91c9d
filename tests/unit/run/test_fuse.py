from __future__ import annotations

from dataclasses import replace

import pytest

from equipoise.config.loader import Request, load
from equipoise.config.schema import Config
from equipoise.core.codec import decode
from equipoise.core.errors import ConfigError
from equipoise.core.registry import PREDICTS
from equipoise.engine.local import Local
from equipoise.report.runs import traffic
from equipoise.run import fuse as module
from equipoise.run.fuse import Server, fuse, servers_of
from equipoise.run.placed import placed
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import blobs, read, tables, write
from equipoise.store.database import Store, open_store
from equipoise.store.records import Run
from equipoise.store.transact import writing
from tests.conftest import one_shot, tiny

from .conftest import Breaks

FAFI = one_shot("method=fafi")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A store with one finished one-shot run, shared by all tests of this file."""
    location = str(tmp_path_factory.mktemp("fuse") / "equipoise.db")
    with open_store(location, patience=60) as store:
        yield store, run_of(store, FAFI)


def run_of(store: Store, config: Config) -> Run:
    return read.find_run(store, start(store, Request(config, None), Nobody()))


def last(store: Store, run_id: str) -> dict[str, float]:
    """The server's numbers at the last checkpoint."""
    steps = [row.step for row in read.rows(store, run_id)]
    rows = [row for row in read.rows(store, run_id) if row.step == max(steps)]
    return {row.name: row.value for row in rows if row.client is None}


def problems(call, *arguments) -> str:
    with pytest.raises(ConfigError) as caught:
        call(*arguments)
    return str(caught.value)


def test_a_server_gives_exactly_what_the_run_recorded_beside_itself(trained):
    store, run = trained
    servers = [Server(predict=name) for name in ("iffi", "energy-gate", "typicality-gate", "common-gate")]
    recorded = last(store, run.run_id)
    beside = [key for key in recorded if key.startswith("proto/") or key.endswith("probability-ensemble")]
    for server, run_id in zip(servers, fuse(store, run, servers), strict=True):
        fused = last(store, run_id)
        assert fused["accuracy/merged"] == recorded[f"accuracy/merged/{server.predict}"]
        assert fused["accuracy/validation"] == recorded[f"accuracy/validation/{server.predict}"]
        for key in (*beside, "accuracy/probe", "accuracy/best_client", "accuracy/clients"):
            assert fused[key] == recorded[key], key


def test_other_common_features_give_what_a_run_with_them_gives(trained):
    store, run = trained
    servers = servers_of(run, (), ("common", "common-exchange"), "patches")
    assert servers == [Server(predict=name, common="patches") for name in ("common", "common-exchange")]
    for server, run_id in zip(servers, fuse(store, run, servers), strict=True):
        config = one_shot("method=fafi", "server.common=patches", f"server.predict={server.predict}")
        assert last(store, run_id)["accuracy/merged"] == last(store, run_of(store, config).run_id)["accuracy/merged"]
        assert read.find_run(store, run_id).config["server"]["common"] == "patches"
    (filters,) = fuse(store, run, [Server(predict="common")])
    assert last(store, filters)["bytes/told"] != last(store, fuse(store, run, servers[:1])[0])["bytes/told"]


def test_the_fused_run_is_a_run_that_says_where_its_clients_came_from(trained):
    store, run = trained
    (run_id,) = fuse(store, run, [Server(predict="energy-gate")])
    fused = read.find_run(store, run_id)
    assert (fused.status, fused.method, fused.seed, fused.partition) == ("done", "fafi", run.seed, run.partition)
    assert fused.config["server"] == {**run.config["server"], "predict": "energy-gate"}
    assert fused.name == f"{run.name}-energy-gate"
    changed = {key for key, value in run.config.items() if fused.config[key] != value}
    assert changed == {"name", "server"}
    assert fused.headline == "accuracy/merged"
    (event,) = [at.event for at in read.events(store, run_id) if at.event.kind == "fused"]
    assert event.detail == {"from": run.run_id}
    assert event.message == f"clients of run {run.run_id} after checkpoint 2; nothing was trained"
    assert {row.step for row in read.rows(store, run_id)} == {1}
    assert not [row for row in read.rows(store, run_id) if row.name.startswith("loss/base")]


def test_a_pair_is_not_made_twice(trained, monkeypatch):
    store, run = trained
    servers = [Server("unit", "feature-average"), Server("unit", "parameter-average")]
    first = fuse(store, run, servers)
    assert len(set(first)) == 2
    monkeypatch.setattr(module, "load_clients", None)  # nothing is even loaded
    assert fuse(store, run, servers[::-1]) == first[::-1]
    assert fuse(store, run, [servers[0]] * 3) == first[:1] * 3


def test_a_pair_asked_for_twice_at_once_is_made_once(trained):
    store, run = trained
    before = len(read.runs(store))
    assert len(set(fuse(store, run, [Server("counts", "anchors")] * 2))) == 1
    assert len(read.runs(store)) == before + 1


def test_an_alias_is_the_same_pair(trained):
    store, run = trained
    one, other = fuse(store, run, [Server(predict="model"), Server(predict="parameter-average")])
    assert one == other


def test_the_servers_own_pair_is_the_run_itself(trained):
    store, run = trained
    assert fuse(store, run, [Server()]) == [run.run_id]


def test_another_merge_gives_what_a_run_with_it_would_have_given(trained):
    store, run = trained
    (fused,) = fuse(store, run, [Server("unit", None)])
    other = one_shot("method=fafi", "server.merge=unit")
    assert read.find_run(store, fused).config_hash == placed(other).fingerprint()
    whole = run_of(store, other)
    timeless = [
        {(row.client, row.name): row.value for row in read.rows(store, run_id) if row.step == 1}
        for run_id in (fused, whole.run_id)
    ]
    down = timeless[0].pop((None, "bytes/down"))  # the start went down before the first checkpoint
    assert down == sum(row.value for row in read.rows(store, whole.run_id, names=["bytes/down"]))
    assert timeless[0].keys() <= timeless[1].keys()
    assert timeless[0] == {key: timeless[1][key] for key in timeless[0]}


def test_a_fused_run_has_the_uploads_of_its_clients_and_of_its_own_server(trained):
    store, run = trained
    (gated,) = fuse(store, run, [Server(predict="energy-gate")])
    sent = [sum(row.value for row in read.rows(store, one, names=["bytes/up"])) for one in (run.run_id, gated)]
    assert sent[0] > 0
    assert sent[1] - sent[0] == last(store, gated)["bytes/told"] > 0


def test_as_many_clients_are_scored_as_in_the_run_itself(store):
    run = run_of(store, one_shot("method=fafi", "evaluate.clients=1", epochs=1, checkpoints=1))
    (fused,) = fuse(store, run, [Server(predict="parameter-average")])
    assert last(store, fused)["accuracy/clients"] == last(store, run.run_id)["accuracy/clients"]


def test_pictures_show_the_prototypes_as_they_were_merged(trained):
    store, run = trained
    (fused,) = fuse(store, run, [Server("unit", None)])
    kept = read.checkpoints(store, fused)[0].manifest
    norms = decode(blobs.get(store, kept["pictures"]))[1]["prototypes"].float().norm(dim=1)
    assert norms.max() <= 1 + 2**-10  # a mean of directions, in half precision


def test_a_fused_run_can_be_fused_again(trained):
    store, run = trained
    (first,) = fuse(store, run, [Server("unit", "iffi")])
    (again,) = fuse(store, read.find_run(store, first), [Server("counts", "iffi")])
    (directly,) = fuse(store, run, [Server("counts", "iffi")])
    assert again == directly


@pytest.mark.parametrize(("merges", "predicts", "pairs"), [
    ((), (), [(None, None)]),
    (("plain", "unit"), (), [("plain", None), ("unit", None)]),
    (("unit",), ("iffi", "anchors"), [("unit", "iffi"), ("unit", "anchors")]),
])  # fmt: skip
def test_every_pair_of_what_was_asked_for(trained, merges, predicts, pairs):
    assert servers_of(trained[1], merges, predicts) == [Server(*pair) for pair in pairs]


def test_all_are_those_that_the_method_allows(trained, store):
    assert {server.predict for server in servers_of(trained[1], (), ("all",))} == set(PREDICTS.names()) - {
        "nearest-mean"
    }
    run = run_of(store, one_shot("method=fedavg", epochs=1, checkpoints=1))
    names = {server.predict for server in servers_of(run, (), ("all",))}
    assert names >= {"energy-gate", "probability-ensemble", "statistics-exchange"}
    assert not names & {"feature-average", "anchors", "iffi", "iffi-published", "nearest-mean"}


def test_statistics_has_no_class_means_among_all_that_it_allows(trained):
    run = replace(trained[1], config=one_shot("method=statistics").model_dump())
    assert "nearest-mean" not in {server.predict for server in servers_of(run, (), ("all",))}


def test_an_unknown_predict_is_refused_with_a_suggestion(trained):
    store, run = trained
    with pytest.raises(ConfigError, match=r"predict 'energy-gat' is not known; did you mean 'energy-gate'\?"):
        fuse(store, run, [Server(predict="energy-gat")])


def test_a_method_without_prototypes_has_no_way_to_merge_them(store):
    run = run_of(store, one_shot("method=fedavg", epochs=1, checkpoints=1))
    before = len(read.runs(store))
    assert "method 'fedavg' has no prototypes to merge" in problems(fuse, store, run, [Server(merge="unit")])
    said = problems(fuse, store, run, [Server(predict="energy-gate"), Server(predict="feature-average")])
    assert "'feature-average' needs prototypes, which method 'fedavg' has not" in said
    assert len(read.runs(store)) == before  # refused before anything is made


def test_a_run_in_rounds_is_refused(store):
    run = run_of(store, tiny("rounds=1"))
    said = problems(fuse, store, run, [Server(predict="probability-ensemble")])
    assert "sent its model back to the clients each round" in said
    assert "communication=one-shot" in said


def test_an_unfinished_run_is_refused(store):
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(FAFI, None), Breaks(KeyboardInterrupt(), 0))
    run = read.find_run(store, "latest")
    said = problems(fuse, store, run, [Server(predict="iffi")])
    assert f"run '{run.run_id}' is stopped: fuse needs one that this version has finished" in said
    assert "`equipoise resume` it" in said


def test_a_run_of_another_version_is_refused(trained):
    store, run = trained
    said = problems(fuse, store, replace(run, version="0.0.1"), [Server("unit", "logit-ensemble")])
    assert "was made by version 0.0.1" in said


def test_a_run_on_other_data_is_refused(trained):
    store, run = trained
    elsewhere = replace(run, environment={**run.environment, "content": "other"})
    said = problems(fuse, store, elsewhere, [Server("counts", "logit-ensemble")])
    assert f"the data is not what run '{run.run_id}' began with" in said


def test_the_clients_of_the_source_survive_a_collection(store):
    run = run_of(store, one_shot("method=fafi", epochs=1, checkpoints=1))
    (fused,) = fuse(store, run, [Server(predict="iffi")])
    manifest = read.checkpoints(store, run.run_id)[0].manifest
    blobs.gc(store, lambda: read.referenced(store))
    assert read.checkpoints(store, fused)[0].manifest == manifest
    assert all(blobs.get(store, digest) for digest in manifest.values())
    write.rewind(store, run.run_id, -1)  # even when the source has forgotten them
    blobs.gc(store, lambda: read.referenced(store))
    (again,) = fuse(store, read.find_run(store, fused), [Server(predict="anchors")])
    assert read.find_run(store, again).status == "done"


def test_the_engine_where_clients_answer_is_closed_also_after_an_error(trained, monkeypatch):
    store, run = trained
    closed: list[str] = []

    class Noted(Local):
        def close(self) -> None:
            closed.append("closed")

    monkeypatch.setattr(module, "make_engine", Noted)
    monkeypatch.setattr(module, "runs_of", lambda *_: [])
    monkeypatch.setattr(module, "fuse_one", lambda store, stored, config: config.name)
    assert len(fuse(store, run, [Server(predict="typicality-gate"), Server(predict="iffi")])) == 2
    assert closed == ["closed"]  # one for all servers
    monkeypatch.setattr(module, "fuse_one", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fuse(store, run, [Server(predict="iffi")])
    assert closed == ["closed"] * 2


def test_a_recommender_has_no_other_way_to_predict(trained):
    store, run = trained
    other = replace(run, config=load("rec/feddmmr", ["communication=one-shot"]).config.model_dump())
    assert "learns from interactions, and there is no other way to predict" in problems(fuse, store, other, [Server()])
    assert "learns from interactions, and there is no other way to predict" in problems(
        fuse, store, other, [Server(predict="probability-ensemble")]
    )
    assert "learns from interactions, and there is no other way to predict" in problems(
        fuse, store, other, servers_of(other, [], ["all"])
    )


def test_of_a_run_that_stopped_early_the_best_clients_are_fused(store):
    run = run_of(store, one_shot("method=fafi", "evaluate.patience=1", "client.lr=1e-9", epochs=4, checkpoints=4))
    assert any(recorded.event.kind == "stopped-early" for recorded in read.events(store, run.run_id))
    (fused,) = fuse(store, run, [Server(predict="probability-ensemble")])
    ((kind, text),) = [
        (at.event.kind, at.event.message) for at in read.events(store, fused) if at.event.kind == "fused"
    ]
    assert kind == "fused"
    assert "after checkpoint 1;" in text


def test_the_clients_of_a_run_that_counted_no_questions_are_fused_with_theirs_added(store):
    """As in stores of earlier versions: the total leaves out what clients told, and nothing says what was asked."""
    run = run_of(store, one_shot("method=fafi", "server.predict=energy-gate", epochs=1, checkpoints=1))
    report = last(store, run.run_id)["bytes/told"]
    table = tables.metrics
    with writing(store) as connection:
        connection.execute(table.delete().where(table.c.name == "bytes/asked"))
        connection.execute(table.update().where(table.c.name == "bytes/up").values(value=table.c.value - report))
    up = last(store, run.run_id)["bytes/up"]
    (plain,) = fuse(store, run, [Server(predict="probability-ensemble")])
    assert last(store, plain)["bytes/up"] == up > 0
    assert traffic(store, run, "up") == up + report
