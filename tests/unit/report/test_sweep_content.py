"""A report of a sweep: which runs are one, the order of its pictures, and the colours of methods."""

from __future__ import annotations

import numpy as np

from equipoise.diagnose.finding import Finding, Verdict
from equipoise.diagnose.recording import EMPTY, Curve
from equipoise.report.examined import ExaminedRun, RunCurves
from equipoise.report.methods import SweepRow
from equipoise.report.sweep_content import by_method, is_sweep, listed, places, sweep_pictures
from equipoise.report.words import words
from tests.unit.report.sweeps import rows_of, run_of

SAY = words("en")
LOW, HIGH = ({"name": "dirichlet", "alpha": alpha} for alpha in (0.1, 0.5))
GRID = [
    (f"{name} {at}", {"method": {"name": name}, "partition": part})
    for name in "abc"
    for at, part in (("low", LOW), ("high", HIGH))
]


def rows() -> list[SweepRow]:
    return rows_of(*GRID, seeds=range(3))


def seen(of: list[SweepRow], code: str = "", lam: bool = False) -> dict[str, ExaminedRun]:
    """Runs with a course of two checkpoints and two clients, λ if asked for, and a warning of that code."""
    found = [Finding(code, "warning", [], [], [], "", "", "", "")] if code else []
    two = np.arange(2)
    course = RunCurves(
        "accuracy/merged", Curve(None, two, np.array([0.1, 0.2])), Curve(None, two, np.ones(2)) if lam else EMPTY
    )
    return {
        run.run_id: ExaminedRun(run, Verdict(found, {}, []), course, np.array([0.1, 0.3]))
        for row in of
        for run in row.runs
    }


def finals(of: list[SweepRow]) -> dict[str, float]:
    return {run.run_id: 0.5 - ord(row.method[0]) / 1000 for row in of for run in row.runs}


def test_rows_of_one_sweep_are_compared_and_one_row_or_other_runs_are_not() -> None:
    two = rows_of(("a", {"method": {"name": "a"}}), ("b", {"method": {"name": "b"}}))
    assert is_sweep(two, {})
    assert not is_sweep(two[:1], {})
    alone = [SweepRow(name, name, "", [run_of(name, sweep=None)]) for name in "ab"]
    assert not is_sweep(alone, {})
    assert not is_sweep([two[0], alone[0]], {})
    assert is_sweep(alone, {"a": "first", "b": "second"}), "cells that another sweep had trained"


def test_the_course_is_first_then_ranks_then_clients_then_other_settings() -> None:
    pictures = sweep_pictures(rows(), seen(rows()), finals(rows()), SAY)
    assert [(figure.key, figure.note[:8]) for figure in pictures.figures] == [
        ("overview", "At low."),
        ("critical-difference", "3 method"),
        ("client-spread", "At low."),
        ("overview", "At high."),
        ("client-spread", "At high."),
    ]
    assert pictures.ranking is not None
    assert pictures.remarks == []


def test_lambda_stands_before_the_clients_if_a_finding_is_about_lambda() -> None:
    one = rows_of(*GRID[::2])
    keys = {
        code: [figure.key for figure in sweep_pictures(one, seen(one, code, lam=True), finals(one), SAY).figures]
        for code in ("lambda-runaway", "class-blind")
    }
    assert keys["lambda-runaway"] == ["overview", "overview-lam", "client-spread"]
    assert keys["class-blind"] == ["overview", "client-spread", "overview-lam"]


def test_where_ranks_could_say_nothing_there_is_a_sentence() -> None:
    one = rows_of(*GRID[::2])
    pictures = sweep_pictures(one, seen(one), finals(one), SAY)
    assert pictures.ranking is None
    assert pictures.remarks == [
        "No critical-difference diagram: only 1 combinations of setting and seed were scored for every method, "
        "and it takes 6."
    ]


def test_findings_of_a_method_are_those_of_all_its_settings() -> None:
    methods = by_method(rows(), seen(rows(), "lr-cut"))
    assert [(each.label, len(each.runs), len(each.findings[0].runs)) for each in methods] == [
        ("a", 6, 6), ("b", 6, 6), ("c", 6, 6),
    ]  # fmt: skip


def test_a_method_has_one_colour_in_all_its_rows() -> None:
    found = places(rows())
    assert [found[label] for label in ("a low", "a high", "b low", "b high", "c")] == [0, 0, 1, 1, 2]


def test_every_run_is_listed_with_the_command_that_opens_its_report() -> None:
    held = finals(rows())
    del held["b low/2"]
    runs = {each.run.run_id: each for each in listed(rows(), held)}
    assert len(runs) == 18
    assert runs["b low/2"].value == "–"
    assert runs["a high/1"].row == 1
    assert runs["a high/1"].value == "40.30 %"
    assert runs["a high/1"].command == "equipoise report a high/1 -o a high/1.html"
