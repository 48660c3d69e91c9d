"""The tutorial of failures: what its commands print first is what it shows, numbers aside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands import run_lines
from tests.docs.documents import DOCS, read

SECTION = re.compile(r"^###? (.+?)$(.*?)(?=^##|\Z)", re.DOTALL | re.MULTILINE)
RUNS = {
    title: re.findall(r"^```(bash|text)\n(.*?)^```$", body, re.DOTALL | re.MULTILINE)
    for title, body in SECTION.findall(read(DOCS / "tutorials" / "why-did-it-fail.md"))
    if "```bash" in body
}


def heads(text: str) -> list[str]:
    """The lines `severity code`, in their order."""
    return [line.split("  ")[0] for line in text.splitlines() if re.match(r"(error|warning) [a-z-]+", line)]


def said(text: str) -> list[str]:
    """Cause, remedy and setting of the first finding."""
    return [line.strip() for line in text.splitlines() if re.match(r"  (why|try):|        \S", line)][:3]


SMALL = "data.limit=200 model=mlp partition.clients=3 client.epochs=16 checkpoints=8"
"""Settings under which λ still runs away, in a second."""
MADE = [
    pytest.param("V12: λ runs away, the merge pays for it", SMALL, id="V12 in small"),
    *(pytest.param(title, "", id=title, marks=pytest.mark.slow) for title in RUNS),
]


@pytest.mark.parametrize(("title", "settings"), MADE)
def test_each_failure_is_made_and_named_first(title: str, settings: str, tmp_path: Path) -> None:
    (_, commands), *shown = RUNS[title][:2]
    first, *others = commands.splitlines()
    printed = run_lines(tmp_path, "\n".join([f"{first} {settings}", *others]))
    verdict = printed[printed.index("stored in") :]
    if not shown:
        assert heads(verdict) == []
        return
    (_, expected) = shown[0]
    assert heads(verdict)[0] == heads(expected)[0], verdict
    assert said(verdict) == said(expected)


def test_the_four_collapses_and_the_five_bugs_are_there() -> None:
    codes = {heads(blocks[1][1])[0].split()[1] for blocks in RUNS.values() if len(blocks) > 1}
    assert codes == {
        "lr-cut", "schedule-fights-learner", "lambda-runaway", "wasted-stage",
        "starved-branch", "temperature-inversion", "weights-inert", "dead-term", "features-missing",
    }  # fmt: skip
