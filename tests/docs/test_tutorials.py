"""Every command of a tutorial is run by a test: `sh` blocks by test_examples, the others by the tests named here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import PATIENCE, command, environment, run_here, run_lines, run_process
from tests.docs.documents import DOCS, ROOT, blocks, read
from tests.docs.test_examples import prepare

TUTORIALS = DOCS / "tutorials"
PROGRAMS = re.compile(r"(?:[A-Z_]+=\S+ )*(equipoise|ray|pytest|kill|make|pip|python|export|mkdir) ")
INSTALLS = re.compile(r"pip install|make setup|export PATH=|mkdir ")
"""What is done before the tests can begin."""
ELSEWHERE = {
    "first-run.md": "tests/docs/test_tutorials.py::test_a_killed_run_goes_on_to_the_same_numbers",
    "own-method.md": "tests/docs/test_tutorials.py::test_the_method_keeps_its_promises_and_refuses_what_it_must",
    "a-cluster.md": "tests/cluster/test_tutorial.py::test_every_command_works_in_order",
    "real-machines.md": "tests/flower/test_tutorial.py::test_every_command_works_in_order",
    "why-did-it-fail.md": "tests/docs/test_tutorials.py::test_the_report_on_one_page",
}
"""Where the commands of `text` blocks are run."""
NEEDS_CIFAR = {
    "equipoise sweep studies/why-v10-fails scale=small --seeds 1",
    "equipoise diagnose V10_RUN --against V9_RUN",
}
"""Real data and twenty minutes, as the page says; `make study` runs them."""


def shown_only(page: str) -> list[str]:
    """Commands in blocks that are not run as they stand."""
    lines = [line for block in blocks(TUTORIALS / page, "text") for line in block.text.splitlines()]
    return [line for line in lines if PROGRAMS.match(line) and not INSTALLS.match(line) and line not in NEEDS_CIFAR]


def test_every_command_of_a_tutorial_is_run_by_a_test() -> None:
    pages = {path.name for path in TUTORIALS.glob("*.md")}
    assert {page for page in pages if shown_only(page)} == set(ELSEWHERE)
    for test in ELSEWHERE.values():
        file, name = test.split("::")
        assert f"def {name}(" in read(ROOT / file)


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    started, killed = shown_only("first-run.md")
    assert killed.startswith("kill -9 ")
    arguments = started.removeprefix("equipoise ").split()
    process = subprocess.Popen(
        command(*arguments),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while not process.stderr.readline().startswith("round 2/"):
        assert process.poll() is None
    process.kill()
    process.communicate()
    assert "killed" in run_here(tmp_path, "ls").out
    resumed = run_process(tmp_path, "resume", "latest", "--json")
    whole = run_here(tmp_path, *arguments, "--store", "whole.db", "--json")
    for key in ("metrics", "curve"):
        assert {**resumed.json[key], "seconds": 0} == {**whole.json[key], "seconds": 0}


@pytest.mark.slow
def test_the_method_keeps_its_promises_and_refuses_what_it_must(tmp_path: Path) -> None:
    refused, tested = shown_only("own-method.md")
    prepare(TUTORIALS / "own-method.md", tmp_path)
    done = run_process(tmp_path, *refused.removeprefix("equipoise ").split())
    assert (done.code, done.err.splitlines()[0]) == (2, message_after(refused))
    words = tested.split()
    assert words[0] == "pytest"
    checked = subprocess.run(
        [sys.executable, "-m", *words, "-p", "no:cacheprovider"], cwd=tmp_path, timeout=PATIENCE, check=False,
        capture_output=True, text=True, env=environment(PYTHONPATH=str(ROOT / "src")),
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "1 passed" in checked.stdout


def message_after(line: str) -> str:
    """The line that the page shows below a command."""
    (block,) = [block.text for block in blocks(TUTORIALS / "own-method.md", "text") if line in block.text]
    return block.partition(f"{line}\n")[2].splitlines()[0]


def test_the_report_on_one_page(tmp_path: Path) -> None:
    (line,) = shown_only("why-did-it-fail.md")
    run_lines(tmp_path, f"equipoise run etf-align data.limit=200 model=mlp client.epochs=2 checkpoints=2\n{line}")
    assert (tmp_path / "report.html").stat().st_size > 100_000
