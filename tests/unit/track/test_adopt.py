"""Runs of other tools in the store: marked, complete, once; and nothing that a source names is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipoise as eq
from equipoise.core.errors import ConfigError
from equipoise.diagnose.stored import stored
from equipoise.store import read
from equipoise.store.database import open_store
from equipoise.track.adopt import adopt, known_facts
from equipoise.track.history import WantedRuns
from tests.unit.track.test_sources import mlruns

TABLE = "step,client,name,value\n" + "".join(
    f"{step},,accuracy/merged,{0.1 * step:.1f}\n{step},1,loss/base,{2 - step}\n" for step in range(3)
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "mine.csv").write_text(TABLE)
    return tmp_path / "mine.csv"


def test_an_imported_run_is_a_finished_run_that_says_where_it_comes_from(path: Path, tmp_path: Path) -> None:
    (run,) = eq.import_runs(path, name="theirs", facts={"classes": 4}, store=tmp_path / "s.db")
    record = run.record
    assert (record.name, record.method, record.status, record.headline) == (
        "theirs",
        "imported",
        "done",
        "accuracy/merged",
    )
    assert record.environment["imported"] == {"tool": "table", "source": str(path), "id": "mine"}
    assert run.value == pytest.approx(0.2)
    assert run.metrics("loss/base", client=1)["value"].to_list() == [2.0, 1.0, 0.0]
    assert run.metrics()["round"].to_list() == run.metrics()["step"].to_list()
    assert run.events["kind"].to_list() == ["imported"]
    with open_store(tmp_path / "s.db") as store:
        facts = stored(store, read.find_run(store, run.id)).facts
    assert (facts["classes"], facts["steps"], facts["settings"]) == (4, 3, {})


def test_what_the_store_has_is_not_taken_twice(path: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        first, again = adopt(store, path, WantedRuns()), adopt(store, path, WantedRuns(name="other"))
        assert (again[0].run_id, again[0].is_new) == (first[0].run_id, False)
        path.write_text(TABLE.replace("0.2", "0.3"))
        assert adopt(store, path, WantedRuns())[0].is_new
        assert len(read.runs(store)) == 2


def test_nothing_can_go_on_from_numbers(path: Path, tmp_path: Path) -> None:
    (run,) = eq.import_runs(path, store=tmp_path / "s.db")
    tries: dict[str, Any] = {
        "nothing to resume": lambda: eq.resume(run),
        "nothing to fuse": lambda: eq.fuse(run, predict="ensemble"),
        "nothing that predicts": run.model,
        "nothing that could be trained again": lambda: run.config,
        "has no partition": lambda: run.partition,
    }
    for words, attempt in tries.items():
        with pytest.raises(ConfigError, match=words):
            attempt()


def test_code_that_a_source_names_is_never_loaded(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    params = mlruns(tmp_path / "mlruns") / "0" / "abc123" / "params"
    for name, text in {
        "plugins": f"['{tmp_path / 'evil.py'}']",
        "model.name": "backbone",
        "model.module": str(tmp_path / "evil.py"),
        "method.name": "aurora",
        "communication": "one-shot",
        "checkpoints": "3",
    }.items():
        (params / name).write_text(text)
    (run,) = eq.import_runs(tmp_path / "mlruns", store=tmp_path / "s.db")
    run.report(tmp_path / "r.html")
    eq.diagnose(run)
    eq.compare([run, run])
    with pytest.raises(ConfigError):
        _ = run.config
    assert not (tmp_path / "ran").exists()
    config = run.record.config
    assert (config["method"]["name"], config["settings"]["method.name"]) == ("imported", "aurora")
    assert "plugins" not in config
    assert (config["communication"], config["checkpoints"], config["rounds"]) == ("one-shot", 3, None)


def test_facts_of_a_source_have_the_right_type_or_are_left_out() -> None:
    found = {"classes": 10, "batch": True, "lam_max": "much", "alpha": 0.5, "scheduled": False, "labels": [[1]], "x": 1}
    assert known_facts(found) == {"classes": 10, "alpha": 0.5, "scheduled": False}


@pytest.mark.parametrize(
    ("names", "headline"),
    [
        (["accuracy/merged", "acc"], "accuracy/merged"),
        (["val_accuracy", "acc"], "acc"),
        (["loss"], ""),
        (["Accuracy in per cent"], ""),
    ],
)
def test_the_headline_is_the_servers_accuracy_if_there_is_one(tmp_path: Path, names: list[str], headline: str) -> None:
    rows = [f"0,{name},{55 if 'cent' in name else 0.5}" for name in names]
    (tmp_path / "t.csv").write_text("\n".join(["step,name,value", *rows, ""]))
    (run,) = eq.import_runs(tmp_path / "t.csv", store=tmp_path / "s.db")
    assert run.headline == headline
    assert run.value == (0.5 if headline else None)


def test_a_headline_that_was_asked_for_must_be_a_share(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'loss/base' is not a metric of the server with values from 0 to 1"):
        eq.import_runs(path, headline="loss/base", store=tmp_path / "s.db")
    with open_store(tmp_path / "s.db") as store:
        assert read.runs(store) == []
