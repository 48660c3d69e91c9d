"""A study's finished runs outlive its store: they are kept as lines beside its page, and not trained again."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from scripts.study import records

from equipoise.config.loader import Request, load
from equipoise.run.grid import Cell
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store.database import open_store

SMALL = ["data.users=30", "data.items=400", "rounds=2", "server.fraction=0.2", "model.width=8", "evaluate.every=1"]


@pytest.fixture
def cells(tmp_path: Path, monkeypatch) -> list[Cell]:
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    return [Cell("ids", load("rec/sasrec", [*SMALL, f"seed={seed}"]).config) for seed in (0, 1)]


def test_a_finished_run_is_kept_and_read_again_without_its_store(cells, tmp_path):
    with open_store(str(tmp_path / "runs.db")) as store:
        start(store, Request(cells[0].config, None), Nobody())
        assert records.keep("small", cells, store, "abc1234", ["loss/rec"]) == 1
        assert records.keep("small", cells, store, "abc1234", ["loss/rec"]) == 0
    assert set(records.load("small", cells)) == {cells[0].config.fingerprint()}
    study = records.study("small", cells)
    assert study.labels == ["ids"]
    assert study.seeds == [0]
    assert len(study.curve("ids", 0, "hr@10/full/validation", None)) == 2
    assert 0 <= study.server("ids", "hr@10/full")[0] <= 1
    assert len(study.clients("ids", 0, "loss/rec")) == 6  # a fifth of thirty
    assert records.commits("small", cells) == ["abc1234"]
    for protocol in ("full", "uni100"):
        hits = study.each("ids", 0, f"hit@10/{protocol}")
        assert len(hits) == 30
        assert fmean(hits) == pytest.approx(study.server("ids", f"hr@10/{protocol}")[0])


def test_a_line_of_another_configuration_counts_no_longer(cells, tmp_path):
    with open_store(str(tmp_path / "runs.db")) as store:
        start(store, Request(cells[0].config, None), Nobody())
        records.keep("small", cells, store, "abc1234", [])
    changed = [Cell("ids", load("rec/sasrec", [*SMALL, "client.lr=0.001"]).config)]
    assert records.load("small", changed) == {}
    with pytest.raises(SystemExit, match="no run of 'small' is recorded"):
        records.study("small", changed)
