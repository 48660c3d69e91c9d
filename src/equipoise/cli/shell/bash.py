"""Completion in bash, which cuts a word at every "=" before it asks, and puts the answer behind the last "=".

    equipoise run fedavg data=ci⇥      bash's words   equipoise  run  fedavg  data  =  ci
                                       our words      equipoise  run  fedavg  data=ci
                                       the answer     data=cifar10, of which bash is given cifar10

So words are joined again, and of an answer the part that bash already has is left out. Where a user took "=" out of
COMP_WORDBREAKS, bash does not cut, and nothing is left out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string


class JoinedBash(BashComplete):
    """The words of a line joined at "=". The script of `--show-completion` asks it, and prints an answer a line."""

    begun = ""
    """What bash already has of the word that is being typed: everything up to its last "=", if it cut there."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is being typed, and that one."""
        words = split_arg_string(os.environ["COMP_WORDS"])[: int(os.environ["COMP_CWORD"]) + 1]
        is_new = len(words) <= int(os.environ["COMP_CWORD"])
        words = joined([*words, ""] if is_new and words[-1:] != ["="] else words)
        was_cut = "=" in os.environ["COMP_WORDS"].split("\n")
        typed = words[-1]
        self.begun = typed[: typed.rfind("=") + 1] if was_cut else ""
        return words[1:-1], typed

    def format_completion(self, item: CompletionItem[Any]) -> str:
        return str(item.value).removeprefix(self.begun)


def joined(words: Sequence[str]) -> list[str]:
    """Words that bash cut at "=" as they were typed: a, =, b → a=b."""
    whole: list[str] = []
    is_open = False
    for word in words:
        if whole and (word == "=" or is_open):
            whole[-1] += word
        else:
            whole.append(word)
        is_open = word == "="
    return whole


def register() -> None:
    """Take the place of Typer's own class for bash, which a command line that completes has registered before."""
    add_completion_class(JoinedBash, "bash")
