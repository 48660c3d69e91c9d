"""The sentences of a finding in the reader's language.

English sentences stand in the rule's own file. Translations are in `languages/rules.{language}.yaml`; a rule without a
translation, such as one from a plugin, speaks English. The words around findings are in `languages/{language}.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.diagnose.language import check_language, texts
from equipoise.diagnose.rule import Rule, Says

PACKAGE = "equipoise.diagnose"
ENGLISH = "en"
NAMED = 6
"""Up to this number, clients are listed by their numbers; beyond it they are counted."""


@dataclass(frozen=True)
class RuleWords:
    """What one rule says in one language."""

    says: Says
    cause: str
    remedies: Sequence[str]
    language: str

    def sentence(self, form: str) -> str:
        return self.says if isinstance(self.says, str) else self.says[form]

    def who(self, clients: Sequence[int]) -> str:
        return who(clients, self.language)

    def when(self, steps: Sequence[int]) -> str:
        return when(steps, self.language)


def words_of(rule: Rule, language: str) -> RuleWords:
    """The rule's words in that language, or in English where they are not translated."""
    translated = translations(check_language(language)).get(rule.code)
    if translated is None:
        return RuleWords(rule.says, rule.cause, [remedy.text for remedy in rule.remedies], ENGLISH)
    return RuleWords(translated["says"], translated["cause"], translated["remedies"], language)


def translations(language: str) -> Mapping[str, Any]:
    """{code: {says, cause, remedies}} of the rules that are translated; English needs no translation."""
    return {} if language == ENGLISH else texts(PACKAGE, f"rules.{language}")


def labels(language: str) -> Mapping[str, str]:
    """The words around findings, wherever they are printed."""
    found: Mapping[str, str] = texts(PACKAGE, check_language(language))["labels"]
    return found


def who(clients: Sequence[int], language: str = ENGLISH) -> str:
    """Names the clients that a finding concerns; without any it concerns the server.

    >>> who([3]), who([0, 2]), who(range(9)), who([])
    ('client 3', 'clients 0, 2', '9 clients', 'the server')
    """
    phrases = texts(PACKAGE, language)["who"]
    n = len(clients)
    form = "none" if n == 0 else "one" if n == 1 else "few" if n <= NAMED else "many"
    return str(phrases[form].format(clients=phrases["separator"].join(map(str, clients)), n=n))


def when(steps: Sequence[int], language: str = ENGLISH) -> str:
    """Names the checkpoints, counted from 1 as people do.

    >>> when([3]), when([3, 5, 9]), when([])
    ('checkpoint 4', 'checkpoints 4 to 10', 'the start')
    """
    phrases = texts(PACKAGE, language)["when"]
    if not steps:
        return str(phrases["none"])
    first, last = steps[0] + 1, steps[-1] + 1
    return str(phrases["one" if first == last else "span"].format(first=first, last=last))


def evidence(row: Mapping[str, Any], label: Mapping[str, str]) -> str:
    """One row of evidence, such as "client 3, checkpoints 4 to 10: first 6.288, last 2.098e+06"."""
    whom = label["server"] if row["client"] is None else label["client"].format(client=row["client"])
    rest = {key: value for key, value in row.items() if key not in {"client", "steps"}}
    numbers = ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in rest.items()
    )
    if not row["steps"]:
        return f"{whom}: {numbers}"
    return label["row"].format(who=whom, first=row["steps"][0] + 1, last=row["steps"][-1] + 1, numbers=numbers)


def healing(healed: Mapping[str, Any], label: Mapping[str, str]) -> str:
    """When a guard changed the run because of this finding, and what it changed; empty where it did not."""
    if not healed:
        return ""
    shown = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in healed["changes"].items()}
    changes = " ".join(f"{key}={value}" for key, value in shown.items())
    return label["healed"].format(step=healed["step"] + 1, changes=changes)
