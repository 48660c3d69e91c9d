"""Words that bash cut at "=" are joined, and what bash has already is left out of the answer."""

from __future__ import annotations

import pytest
import typer
from click.shell_completion import CompletionItem

from equipoise.cli import app
from equipoise.cli.shell.bash import JoinedBash, joined


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "a", "=", "b", "c"], ["run", "a=b", "c"]),
        (["run", "a", "="], ["run", "a="]),
        (["run", "a", "=", "b", "=", "c"], ["run", "a=b=c"]),
        (["run", "a=b"], ["run", "a=b"]),
        ([], []),
    ],
)
def test_joined(words: list[str], expected: list[str]) -> None:
    assert joined(words) == expected


@pytest.mark.parametrize(
    ("words", "last", "expected", "answer"),
    [
        (["equipoise", "run", "fedavg", "data", "=", "ci"], 5, (["run", "fedavg"], "data=ci"), "cifar10"),
        (["equipoise", "run", "fedavg", "data", "="], 4, (["run", "fedavg"], "data="), "cifar10"),
        (["equipoise", "run", "fedavg", "data", "=", ""], 5, (["run", "fedavg"], "data="), "cifar10"),
        (["equipoise", "run", "fedavg", "data=ci"], 3, (["run", "fedavg"], "data=ci"), "data=cifar10"),
        (["equipoise", "run", "data", "=", "x", ""], 5, (["run", "data=x"], ""), "data=cifar10"),
        (["equipoise", "run", "later"], 1, ([], "run"), "data=cifar10"),
    ],
)
def test_the_words_of_bash(
    monkeypatch: pytest.MonkeyPatch, words: list[str], last: int, expected: tuple[list[str], str], answer: str
) -> None:
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(last))
    bash = JoinedBash(typer.main.get_command(app), {}, "equipoise", "_EQUIPOISE_COMPLETE")
    assert bash.get_completion_args() == expected
    assert bash.format_completion(CompletionItem("data=cifar10")) == answer
