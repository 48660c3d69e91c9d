from __future__ import annotations

import pytest

from equipoise.core.values import Row
from equipoise.report.gather import gather
from equipoise.store import read, write
from equipoise.store.database import open_store
from equipoise.store.records import NewRun
from tests.conftest import tiny


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "equipoise.db") as opened:
        yield opened


NAMES = ("accuracy/merged", "accuracy/validation", "bytes/up", "bytes/down")


def stored(store, run_id, seed=0, sweep=None, status="done", settings="rounds=1"):
    """A run of one checkpoint whose numbers are all 0.5; one that failed has no numbers."""
    config = tiny(*settings.split())
    write.create_run(
        store,
        NewRun(
            run_id=run_id, name="fedavg", method="fedavg", seed=seed, config=config.model_dump(mode="json"),
            config_hash=config.fingerprint(), headline="accuracy/merged", version="0", sweep=sweep,
        ),
    )  # fmt: skip
    if status == "done":
        write.commit_step(store, run_id, 0, [Row(0, 0, None, name, 0.5) for name in NAMES], [], {})
    write.finish(store, run_id, status, None if status == "done" else "out of memory")
    return read.find_run(store, run_id)


def test_a_seed_that_failed_stands_with_the_others_of_its_row(store):
    runs = [stored(store, "fedavg-0"), stored(store, "fedavg-1", seed=1, status="failed")]
    report = gather(store, runs, {"fedavg-0": "plain", "fedavg-1": "plain"}, "en")
    (plain,) = report.configurations
    assert [run.run_id for run in plain.runs] == ["fedavg-0", "fedavg-1"]
    assert report.n_runs == 2
    assert "1 of 2 runs did not finish" in report.sentence
    assert not report.is_sweep


def test_every_run_of_a_sweep_is_listed_and_a_failed_one_has_no_value(store):
    runs = [
        stored(store, "a-0", sweep="s"),
        stored(store, "a-1", seed=1, sweep="s"),
        stored(store, "b-0", sweep="s", settings="rounds=2", status="failed"),
    ]
    report = gather(store, runs, {"a-0": "one", "a-1": "one", "b-0": "two"}, "en")
    assert report.is_sweep
    assert [(each.label, each.run.run_id, each.value) for each in report.listed] == [
        ("one", "a-0", "50.00 %"), ("one", "a-1", "50.00 %"), ("two", "b-0", "–"),
    ]  # fmt: skip
    assert [(each.label, len(each.runs)) for each in report.configurations] == [("one", 2), ("two", 1)]
    assert report.remarks[0].startswith("No critical-difference diagram: 1 methods")
    assert [figure.key for figure in report.top] == ["overview"]


def test_runs_of_no_sweep_have_a_section_each(store):
    runs = [stored(store, "a-0"), stored(store, "b-0", settings="rounds=2")]
    report = gather(store, runs, {}, "en")
    assert not report.is_sweep
    assert [each.drawn.run_id for each in report.configurations] == ["a-0", "b-0"]


def test_a_report_of_runs_that_all_failed_has_a_sentence_and_no_table(store):
    report = gather(store, [stored(store, "a-0", status="failed")], {}, "en")
    assert report.comparison is None
    assert "nothing was scored; 1 of 1 runs did not finish" in report.sentence
