"""A study's finished runs outlive its store: they are kept as lines beside its page, and not trained again."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest
from scripts.study import recommendation, records
from scripts.study.read import SCHEMA, Study

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
    assert set(records.load("small", cells)) == {records.key_of(cells[0])}
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


def test_a_line_without_hits_is_replaced_by_a_run_that_has_them_and_by_no_other(cells, tmp_path):
    with open_store(str(tmp_path / "runs.db")) as store:
        start(store, Request(cells[0].config, None), Nobody())
        records.keep("small", cells, store, "new", [])
        (line,) = (tmp_path / "records" / "small.jsonl").read_text().splitlines()
        old = {**json.loads(line), "commit": "old", "hits": {}}
        (tmp_path / "records" / "small.jsonl").write_text(json.dumps(old) + "\n")
        assert records.keep("small", cells, store, "new", []) == 1
        assert records.commits("small", cells) == ["new"]
        assert records.keep("small", cells, store, "newer", []) == 0
        assert records.commits("small", cells) == ["new"]


def test_differences_have_intervals_where_hits_were_kept_and_only_common_seeds_count(cells, tmp_path):
    """The same runs under two names: no difference, for no user."""
    with open_store(str(tmp_path / "runs.db")) as store:
        start(store, Request(cells[0].config, None), Nobody())
        records.keep("small", cells, store, "abc", [])
    study = records.study("small", cells)
    names = (recommendation.IDS, "other", "elsewhere")
    rows = [study.rows.with_columns(pl.lit(name).alias("label")) for name in names]
    runs = {(names[0], 0): "a", (names[1], 0): "b", (names[2], 1): "c"}
    both = Study("small", pl.concat([*rows[:2], rows[2].with_columns(seed=pl.lit(1, pl.Int64))]), runs)
    text = "\n".join(recommendation.figures_and_gains(both, "other", {"other": "elsewhere"}))
    assert "| other − ids alone | +0.000 [+0.000, +0.000] |" in text, "one seed has no range"
    assert "elsewhere −" not in text
    assert "− elsewhere" not in text
    assert "| other (seed 0) |" in text
    found, low, high = (study.server("ids", f"hr@10/full/over_markov{end}")[0] for end in ("", "/low", "/high"))
    assert f"| other − markov | {found:+.3f} [{low:+.3f}, {high:+.3f}] |" in text


def test_several_seeds_have_a_range():
    rows = [("ids", seed, 0, None, "ndcg@10/full", 0.1) for seed in (0, 1)]
    rows += [("more", seed, 0, None, "ndcg@10/full", value) for seed, value in ((0, 0.2), (1, 0.3))]
    runs = {(label, seed): "run" for label in ("ids", "more") for seed in (0, 1)}
    study = Study("small", pl.DataFrame(rows, schema=SCHEMA, orient="row"), runs)
    assert recommendation.gain(study, "more", "ids", "ndcg@10/full") == "+0.150 (+0.100 … +0.200)"
