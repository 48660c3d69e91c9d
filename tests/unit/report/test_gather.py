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


def test_a_seed_that_failed_stands_with_the_others_of_its_row(store):
    config = tiny("rounds=1")
    labels = {"fedavg-0": "plain", "fedavg-1": "plain"}
    for seed, run_id in enumerate(labels):
        write.create_run(
            store,
            NewRun(
                run_id=run_id, name="fedavg", method="fedavg", seed=seed, config=config.model_dump(mode="json"),
                config_hash=config.fingerprint(), headline="accuracy/merged", version="0",
            ),
        )  # fmt: skip
    names = ("accuracy/merged", "accuracy/validation", "bytes/up", "bytes/down")
    write.commit_step(store, "fedavg-0", 0, [Row(0, 0, None, name, 0.5) for name in names], [], {})
    write.finish(store, "fedavg-0", "done")
    write.finish(store, "fedavg-1", "failed", "out of memory")
    report = gather(store, [read.find_run(store, run_id) for run_id in labels], labels, "en")
    (plain,) = report.configurations
    assert [run.run_id for run in plain.runs] == ["fedavg-0", "fedavg-1"]
    assert report.n_runs == 2
