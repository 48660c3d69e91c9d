"""Which three pictures stand above the rest, by the rule in `foremost`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from equipoise.diagnose.finding import Finding, Severity
from equipoise.report.figure import BarChart, ChartLine, Figure, Heatmap, LineChart
from equipoise.report.foremost import foremost


def curve(key: str, n: int = 3) -> LineChart:
    return LineChart(key=key, y="", lines=[ChartLine("a", list(range(1, n + 1)), [0.5] * n)])


def grid(key: str) -> Heatmap:
    return Heatmap(key=key, x="", y="", columns=["0"], rows=["0"], values=np.ones((1, 1)), measure="")


def finding(code: str, severity: Severity = "warning") -> Finding:
    return Finding(code, severity, [], [], [], "", "", "", "")


EVERY: list[Figure] = [
    grid("partition"), curve("accuracy"), curve("losses"), curve("lam"), curve("conflict"), curve("gradients"),
    grid("client-accuracy"), grid("recall"), BarChart(key="spread", x="class", y="", bars={"0": 1.0}),
]  # fmt: skip


def keys(figures: Sequence[Figure], *findings: Finding) -> list[str]:
    return [figure.key for figure in foremost(figures, findings)]


def test_without_findings_the_course_the_partition_and_the_spread_of_clients() -> None:
    assert keys(EVERY) == ["accuracy", "partition", "client-accuracy"]


def test_evidence_comes_first_and_leaves_room_for_the_course() -> None:
    severe = [finding("lambda-runaway", "error"), finding("gradient-conflict"), finding("class-blind")]
    assert keys(EVERY, *severe) == ["lam", "conflict", "accuracy"]


def test_a_note_is_behind_the_course() -> None:
    assert keys(EVERY, finding("class-blind", "note")) == ["accuracy", "recall", "partition"]
    assert keys(EVERY, finding("class-blind", "note"), finding("lambda-runaway")) == ["lam", "accuracy", "recall"]


@pytest.mark.parametrize(
    ("code", "picture"), [("lr-cut", "losses"), ("dead-term", "gradients"), ("partition-overlap", "partition")]
)
def test_the_evidence_is_the_first_number_that_the_rule_reads(code: str, picture: str) -> None:
    assert keys(EVERY, finding(code))[0] == picture


def test_two_findings_with_the_same_evidence_take_one_place() -> None:
    two = finding("lambda-runaway"), finding("bound-exceeded")
    assert keys(EVERY, *two) == ["lam", "accuracy", "partition"]


def test_the_rule_of_a_plugin_that_is_gone_has_no_picture() -> None:
    assert keys(EVERY, finding("nobody-knows-this-one")) == keys(EVERY)


def test_a_course_of_one_checkpoint_is_no_course() -> None:
    groups = BarChart(key="groups", x="", y="hr@10/full", bars={"all": 0.1})
    assert keys([grid("partition"), curve("accuracy", n=1), groups])[0] == "groups"
    assert keys([grid("partition"), groups, curve("ranking")])[0] == "ranking"


def test_the_mean_over_seeds_is_the_course_if_there_are_several() -> None:
    assert keys([*EVERY, curve("overview")])[0] == "overview"


def test_a_run_with_little_recorded_shows_what_there_is() -> None:
    assert keys([curve("losses")]) == ["losses"]
    assert keys([]) == []
