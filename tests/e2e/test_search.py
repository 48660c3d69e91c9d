"""`sweep --search optuna`: a real search on digits, killed and gone on with, and what is refused."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands import PATIENCE
from tests.e2e.conftest import Equipoise, command, environment

pytestmark = pytest.mark.slow

RANGES = """
preset: fedavg
base: {data.limit: 200, model: mlp, rounds: 4, partition.clients: 3}
search:
  client.lr: {low: 1e-4, high: 1.0, log: true}
  client.epochs: {low: 1, high: 2}
"""
WORDS = ("sweep", "ranges.yaml", "--search", "optuna")


@pytest.fixture(autouse=True)
def ranges(tmp_path: Path) -> None:
    (tmp_path / "ranges.yaml").write_text(RANGES)


def table(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["trial"], row["settings"], row["state"], row["validation"]) for row in document["trials"]]


def test_a_search_gives_a_table_a_picture_and_a_report_with_its_budget(equipoise: Equipoise, tmp_path: Path) -> None:
    first = equipoise(*WORDS, "--trials", "8", "-j", "1", "--picture", "s.svg")
    lines = first.out.splitlines()
    assert lines[0].split() == ["trial", "lr", "epochs", "validation", "test", "state", "seconds"]
    rows = [line for line in lines[1:9] if line]
    starred = [row for row in rows if " * " in row]
    assert len(rows) == 8
    assert len(starred) == 1
    assert [row for row in rows if row.count("%") > 1] == starred, "test is shown for the chosen trial alone"
    assert (tmp_path / "s.svg").read_text().startswith("<svg")
    assert first.err.count("/8  trial ") == 8

    found = equipoise(*WORDS, "--trials", "8", "--json").json
    best = found["best"]
    assert best["validation"] == max(row["validation"] for row in found["trials"] if row["validation"] is not None)
    assert found["budget"]["trials"] == 8
    assert found["budget"]["done"] + found["budget"]["pruned"] == 8
    shown = equipoise("show", best["runs"][0], "--json").json
    assert best["test"] == shown["metrics"]["accuracy/merged"]
    assert len(equipoise("ls", "--json").json) == 8, "the second call ran nothing"

    compared = equipoise("compare", "--sweep", "ranges.yaml search", "--json").json
    assert [row["runs"] for row in compared["rows"]] == [best["runs"]], "no other trial's test figure is in a table"
    for language, said in (("en", "Trials: 8"), ("zh", "试验：8")):
        equipoise("report", "--sweep", "ranges.yaml search", "--lang", language, "-o", "r.md")
        equipoise("report", "--sweep", "ranges.yaml search", "--lang", language, "-o", "r.html")
        page, text = (tmp_path / "r.html").read_text(), (tmp_path / "r.md").read_text()
        assert said in page
        assert said in text
        assert 'data-key="search-history"' in page


def test_a_search_killed_in_the_middle_goes_on_to_the_same_table(equipoise: Equipoise, tmp_path: Path) -> None:
    words = (*WORDS, "--trials", "9", "-j", "1", "--json")
    whole = equipoise(*words, "--store", "whole.db").json
    for n_trials in (2, 6):
        process = subprocess.Popen(
            command(*words, "--store", "killed.db"),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + PATIENCE
        while n_asked(tmp_path / "killed.db") <= n_trials:
            assert time.monotonic() < deadline
            assert process.poll() is None, "it came to its end before it was killed"
            time.sleep(0.005)
        process.kill()
        process.wait(timeout=PATIENCE)
    again = equipoise(*words, "--store", "killed.db")
    assert table(again.json) == table(whole)
    runs = equipoise("ls", "--json", "--store", "killed.db").json
    assert sorted(run["run_id"] for run in runs) == sorted(run for row in again.json["trials"] for run in row["runs"])


def n_asked(path: Path) -> int:
    """How many trials the store has."""
    if not path.exists():
        return 0
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(database.execute("SELECT COUNT(*) FROM trials").fetchone()[0])
    except sqlite3.OperationalError:  # it is being made
        return 0
    finally:
        database.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--search", "bayes", "--trials", "3"), "expected optuna, got 'bayes'"),
        (("--search", "optuna"), "--trials: a search needs it"),
        (("--trials", "3"), "--trials: belongs to --search optuna"),
        (("--sampler", "tpe", "--picture", "a.svg"), "2 problems"),
        (("--search", "optuna", "--trials", "3", "--sampler", "grid"), "expected tpe or random, got 'grid'"),
        (("--search", "optuna", "--trials", "3", "--pruner", "best"), "expected median or none, got 'best'"),
        (("--search", "optuna", "--trials", "3", "--dry-run"), "--dry-run: is for a grid"),
        (("--search", "optuna", "--trials", "3", "--format", "md"), "--format: is for a grid"),
        (("--search", "optuna", "--trials", "3", "--address", "auto"), "--address: is the address of a Ray cluster"),
        (("lr=0.1", "client.epochs=1", "--search", "optuna", "--trials", "3"), "there is nothing to vary"),
        ((), "ranges are searched, not run through"),
    ],
)
def test_what_is_refused(refused: Equipoise, words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    assert said in refused("sweep", "ranges.yaml", *words).err
    assert not (tmp_path / "runs").exists(), "nothing was begun"


def test_a_name_stands_for_one_search(equipoise: Equipoise) -> None:
    words = (*WORDS, "--trials", "1", "rounds=1", "-j", "1", "--name", "mine")
    equipoise(*words)
    assert "stands for another grid" in equipoise(*words, "--search-seed", "1", code=2).err


def test_a_search_in_which_nothing_works_fails(equipoise: Equipoise) -> None:
    done = equipoise("sweep", "fedavg", "data.limit=200", "model=mlp", "rounds=1", "lr=1e30,1e31", "--search", "optuna",
                     "--trials", "2", "-j", "1", code=1)  # fmt: skip
    assert "No trial is done" in done.out
    assert "no client gave an update" in done.err


def test_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import equipoise as eq

    monkeypatch.chdir(tmp_path)
    found = eq.search("ranges.yaml", trials=2, jobs=1, rounds=1, progress=False, store=str(tmp_path / "own.db"))
    frame = found.table()
    assert frame.columns == ["trial", "client.lr", "client.epochs", "validation", "test", "state", "seconds"]
    assert frame["test"].null_count() == 1
    assert [run.id for run in found.runs] == list(found.best["runs"])
    assert [figure.key for figure in found.figures("zh")] == ["search-history"]
    assert json.dumps(found.result.to_json())
