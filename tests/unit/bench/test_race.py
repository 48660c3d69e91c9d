"""A contest: ours, a plain loop and whoever else is given do the same work by turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.bench.cohort import contests as cohort
from equipoise.bench.job import make_job
from equipoise.bench.plain import plain
from equipoise.bench.race import Contest, race, settings
from equipoise.bench.tiny import contests as tiny

ROOT = Path(__file__).parents[3]


def small() -> Contest:
    given = {**settings({"name": "mlp", "hidden": 4}, 3), "engine": {"name": "local"}}
    return Contest("small", "three clients", make_job(given, (3, 8, 8), [10] * 3), goal=1.0)


def test_ours_is_timed_against_a_plain_loop():
    (result,) = race(small(), repeats=1)
    assert result.name == "small/plain"
    assert result.what.startswith("three clients; against plain, threads ")
    assert result.is_alike
    assert str(result.goal) == "≥ 1"
    assert "forward" in result.note  # where our time goes
    assert result.limit is None


def test_other_programs_that_are_given_are_timed_in_the_same_run():
    contest = small()
    others = {"other, threads 1": plain(contest.job), "other, threads 2": plain(contest.job, 2)}
    results = {result.name: result for result in race(contest, 1, others, {"other": 7.0, "absent": 2.0})}
    assert results.keys() == {"small/plain", "small/other"}
    assert "against other, threads " in results["small/other"].what
    assert str(results["small/other"].goal) == "≥ 7"
    assert results["small/other"].is_alike
    assert results["small/other"].ours == results["small/plain"].ours


def test_the_fastest_limit_is_noted_and_is_no_contestant():
    contest = small()
    limits = {"limit: nothing": lambda: contest.job.start, "limit: everything": plain(contest.job)}
    (result,) = race(contest, 1, limits)
    assert result.name == "small/plain"
    assert result.note.startswith(f"limit: nothing {result.limit:.3g}×; ")


def test_a_program_that_did_other_work_is_seen():
    contest = small()
    results = race(contest, 1, {"idle": lambda: contest.job.start}, {"idle": 1.0})
    assert {result.name: result.is_alike for result in results} == {"small/plain": True, "small/idle": False}


def test_the_contests_that_there_are():
    (contest,) = cohort()
    assert (contest.name, contest.job.n_clients, contest.goal) == ("cohort", 50, 1.3)
    assert [(each.name, each.job.n_clients) for each in tiny()] == [("tiny-logistic", 1000), ("tiny-mlp", 1000)]


@pytest.mark.parametrize("package", ["flwr", "pfl"])
def test_no_benchmark_of_the_package_knows_another_simulator(package):
    files = list((ROOT / "src" / "equipoise" / "bench").rglob("*.py"))
    assert files
    assert not [file.name for file in files if package in file.read_text(encoding="utf-8")]
