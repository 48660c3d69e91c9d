from __future__ import annotations

from math import log2

import pytest

from equipoise.core.errors import ConfigError
from equipoise.core.values import Event, Row
from equipoise.report.runs import compared, curve, listed, shown
from equipoise.report.statistics import HeadlineCurve, UserGains
from equipoise.store import read, write
from equipoise.store.database import open_store
from equipoise.store.records import NewRun

CONFIG = {"rounds": 3, "checkpoints": None, "data": {"name": "digits"}, "method": {"name": "fedavg"}}


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "equipoise.db") as opened:
        yield opened


def recorded(store, run_id: str = "fedavg-000001", scored=((0.5, 0.4), (0.9, 0.6), (0.6, 0.6)), **changes):
    """A run with (headline, validation) per step; None where a step was not scored."""
    about = {"name": "fedavg", "method": "fedavg", "seed": 3, "config": CONFIG, "config_hash": "c0ffee"}
    more = {"headline": "accuracy/merged", "version": "0.1.0", **changes}
    write.create_run(store, NewRun(run_id=run_id, **{**about, **more}))
    for step, scores in enumerate(scored):
        rows = [Row(step, step, None, "bytes/up", 8.0), Row(step, step, 1, "accuracy/merged", 0.0)]
        if scores is not None:
            names = ("accuracy/merged", "accuracy/validation")
            rows += [Row(step, step, None, name, value) for name, value in zip(names, scores, strict=True)]
        write.commit_step(store, run_id, step, rows, [Event("note", f"step {step}")] if step == 1 else [], {})
    return read.find_run(store, run_id)


def test_a_curve_is_the_servers_headline_and_validation(store):
    run = recorded(store)
    assert curve(store, run) == HeadlineCurve("fedavg-000001", 3, [0, 1, 2], [0.5, 0.9, 0.6], [0.4, 0.6, 0.6])


def test_steps_that_were_not_scored_are_not_on_the_curve(store):
    run = recorded(store, scored=((0.5, 0.4), None, (0.6, 0.7)))
    assert list(curve(store, run).steps) == [0, 2]


def test_a_stream_chooses_nothing_so_its_last_slice_stands(store):
    config = CONFIG | {"data": {"name": "planted", "split": "slices"}}
    run = recorded(store, scored=(None, None), headline="hr@10/full", config=config)
    for step, value in ((2, 0.9), (3, 0.6)):
        write.commit_step(store, run.run_id, step, [Row(step, step, None, "hr@10/full", value)], [], {})
    assert list(curve(store, run).values) == [0.9, 0.6]
    assert shown(store, run)["best"]["value"] == 0.6


def test_one_line_of_ls(store):
    run = recorded(store)
    write.finish(store, run.run_id, "done")
    line = listed(store, read.find_run(store, run.run_id))
    assert {key: line[key] for key in ("run_id", "name", "status", "method", "seed", "data", "metric", "value")} == {
        "run_id": "fedavg-000001",
        "name": "fedavg",
        "status": "done",
        "method": "fedavg",
        "seed": 3,
        "data": "digits",
        "metric": "accuracy/merged",
        "value": 0.6,
    }
    assert line["steps"] == {"done": 3, "planned": 3}
    assert line["error"] is None


def test_one_line_of_a_run_that_did_nothing_yet(store):
    line = listed(store, recorded(store, scored=(), config={**CONFIG, "rounds": None, "checkpoints": 7}))
    assert line["steps"] == {"done": 0, "planned": 7}
    assert line["value"] is None


def test_the_document_of_a_run(store):
    run = recorded(store)
    write.finish(store, run.run_id, "failed", "it broke")
    document = shown(store, read.find_run(store, run.run_id))
    assert {"run_id", "name", "status", "config", "metrics", "findings"} <= document.keys()
    assert (document["status"], document["error"]) == ("failed", "it broke")
    assert document["metrics"] == {"accuracy/merged": 0.6, "accuracy/validation": 0.6, "bytes/up": 8.0}
    assert document["best"] == {"step": 1, "value": 0.9, "selected_by": "accuracy/validation"}  # the first of equals
    assert document["curve"] == {"steps": [0, 1, 2], "values": [0.5, 0.9, 0.6], "validation": [0.4, 0.6, 0.6]}
    assert [(event["kind"], event["step"], event["message"]) for event in document["events"]] == [("note", 1, "step 1")]
    assert document["bytes"] == {"down": 0, "up": 3 * 8}
    assert document["findings"] == []
    assert document["config"] == CONFIG


def test_the_document_of_a_run_that_was_never_scored(store):
    document = shown(store, recorded(store, scored=()))
    assert document["best"] is None
    assert document["metrics"] == {}


def test_ready_to_be_compared_under_label_cell_or_name(store):
    for i, cell in enumerate((None, "a cell", "b cell")):
        recorded(store, f"r-{i}", sweep="s", cell=cell)
        write.finish(store, f"r-{i}", "done" if i < 2 else "stopped")
    runs = [read.find_run(store, f"r-{i}") for i in range(3)]
    found = compared(store, runs, {"r-2": "my label"})
    assert [run.label for run in found] == ["fedavg", "a cell", "my label (3/3, stopped)"]
    assert [run.metric for run in found] == ["accuracy/merged"] * 3
    assert found[0].curve.run_id == "r-0"
    assert found[0].fingerprint == ""


def test_a_run_without_a_scored_checkpoint_cannot_be_compared(store):
    runs = [recorded(store, "r-0"), recorded(store, "r-1", scored=(None,)), recorded(store, "r-2", scored=())]
    with pytest.raises(ConfigError, match=r"nothing was scored in r-1 \(\w+\), r-2 \(\w+\)"):
        compared(store, runs)


def ranked(store, run_id: str, ranks: list[float], *, markov: list[float], seed: int = 3):
    """A recommender that was scored once, and where it and the Markov table put every user's item."""
    run = recorded(store, run_id, scored=(), headline="hr@10/full", seed=seed)
    rows = [Row(0, 0, None, "hr@10/full", sum(rank <= 10 for rank in ranks) / len(ranks))]
    rows += [Row(0, 0, None, name, 0.5) for name in ("hr@10/full/validation", "hr@10/full/low", "loss/merged")]
    rows += [Row(0, 0, None, "ndcg@10/full", sum(1 / log2(rank + 1) for rank in ranks if rank <= 10) / len(ranks))]
    rows += [Row(0, 0, user, "rank/full", rank) for user, rank in enumerate(ranks)]
    rows += [Row(0, 0, user, "rank/full/markov", rank) for user, rank in enumerate(markov)]
    write.commit_step(store, run_id, 0, rows, [], {})
    return run


def test_recommenders_are_compared_user_by_user(store):
    table = [1.0, 50.0]
    ours, theirs = (ranked(store, run_id, r, markov=table) for run_id, r in (("a", [3.0, 11.0]), ("b", [3.0, 2.0])))
    first, second = compared(store, [ours, theirs])
    assert first.users == UserGains({0: 1.0, 1: 0.0}, {0: 1.0, 1: 50.0})
    assert second.users == UserGains({0: 1.0, 1: 1.0}, {0: 1.0, 1: 50.0})
    (by_gain,) = compared(store, [ours], metric="ndcg@10/full")
    assert by_gain.metric == "ndcg@10/full"
    assert by_gain.users == UserGains({0: 1 / log2(4), 1: 0.0}, {0: 1.0, 1: 50.0})
    assert list(by_gain.curve.values) == [pytest.approx(1 / 2 / 2)]


def test_images_have_no_users(store):
    (run,) = compared(store, [recorded(store)], metric="accuracy/validation")
    assert run.users is None
    assert list(run.curve.values) == [0.4, 0.6, 0.6]


@pytest.mark.parametrize("metric", ["hr@10/ful", "loss/merged", "hr@10/full/low", "nonsense"])
def test_what_is_no_share_of_the_run_is_not_compared(store, metric):
    run = ranked(store, "a", [3.0], markov=[1.0])
    with pytest.raises(ConfigError, match=f"a has no share '{metric}'"):
        compared(store, [run], metric=metric)
