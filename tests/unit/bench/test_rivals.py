"""`python -m scripts.rivals`, where no other simulator is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scripts.rivals import __main__ as command
from scripts.rivals.simulators import GOALS

from equipoise.bench import cohort
from equipoise.bench.benchmarks import NAMES
from equipoise.bench.job import make_job
from equipoise.bench.plain import plain
from equipoise.bench.race import Contest, settings


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    def contests() -> Iterator[Contest]:
        given = {**settings({"name": "mlp", "hidden": 4}, 3), "engine": {"name": "local"}}
        yield Contest("cohort", "three clients", make_job(given, (3, 8, 8), [10] * 3), goal=1.0)

    monkeypatch.setattr(cohort, "contests", contests)


@contextmanager
def nobody(job) -> Iterator[dict]:
    yield {}


@contextmanager
def one_of_them(job) -> Iterator[dict]:
    yield {"pfl, threads 1": plain(job)}


def test_simulators_that_are_not_installed_are_named(small, monkeypatch, capsys):
    monkeypatch.setattr(command, "installed", nobody)
    (result,) = command.compared("cohort", 1)
    assert result.name == "cohort/plain"
    assert "not installed, so not timed: pfl, flower (make bench-rivals)" in result.note
    assert "pfl, flower" in capsys.readouterr().err


def test_the_results_are_printed_and_kept_like_those_of_the_command(small, monkeypatch, capsys, tmp_path: Path):
    monkeypatch.setattr(command, "installed", one_of_them)
    kept = tmp_path / "speed.jsonl"
    monkeypatch.setattr(sys, "argv", ["rivals", "cohort", "--repeats", "1", "--json", "-o", str(kept)])
    command.main()
    results = json.loads(capsys.readouterr().out)
    assert [result["name"] for result in results] == ["cohort/plain", "cohort/pfl"]
    for result in results:
        assert {"name", "what", "ratio", "spread", "ours", "theirs", "goal"} <= result.keys()
    assert results[1]["goal"] == "≥ 2"
    assert [json.loads(line)["name"] for line in kept.read_text().splitlines()] == ["cohort/plain", "cohort/pfl"]


def test_a_comparison_that_is_not_there(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rivals", "cohorts"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "no such comparison: cohorts; there are cohort, tiny" in capsys.readouterr().err


def test_each_comparison_is_a_benchmark_of_the_package():
    assert set(GOALS) <= set(NAMES)
