"""Every language says the same with the same numbers; a rule without a translation speaks English."""

from __future__ import annotations

import doctest
import string
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from equipoise.config.loader import read_yaml
from equipoise.core.errors import ConfigError
from equipoise.diagnose import words
from equipoise.diagnose.language import LANGUAGES, texts
from equipoise.diagnose.rule import RULES, Rule
from equipoise.diagnose.words import labels, translations, when, who, words_of


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def flat(content: Mapping[str, Any]) -> dict[str, str]:
    return {f"{block}.{key}": text for block, by in content.items() for key, text in by.items()}


def test_all_languages_have_the_same_keys_and_placeholders() -> None:
    english, chinese = (flat(texts("equipoise.diagnose", language)) for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert placeholders(text) == placeholders(chinese[key]), key


@pytest.mark.parametrize("package", ["equipoise.diagnose", "equipoise.report"])
def test_no_key_of_a_language_stands_twice(package: str) -> None:
    found = sorted(Path(str(files(package))).glob("languages/*.yaml"))
    assert len(found) >= len(LANGUAGES)
    for path in found:
        assert read_yaml(path)  # refuses a key that stands twice


def test_only_rules_are_translated() -> None:
    assert translations("zh").keys() == set(RULES.names())


@pytest.mark.parametrize("entry", list(RULES), ids=lambda entry: entry.name)
def test_chinese_says_the_same_with_the_same_numbers(entry) -> None:
    rule: Rule = entry.make
    translated = translations("zh")[rule.code]
    assert translated["cause"]
    assert len(translated["remedies"]) == len(rule.remedies)
    for mine, theirs in zip(rule.remedies, translated["remedies"], strict=True):
        assert placeholders(mine.text) == placeholders(theirs), theirs
    mine, theirs = (form if isinstance(form, dict) else {"": form} for form in (rule.says, translated["says"]))
    assert mine.keys() == theirs.keys()
    for form in mine:
        assert placeholders(mine[form]) == placeholders(theirs[form]), form


def test_clients_and_checkpoints_are_named_in_the_language_of_the_sentence() -> None:
    assert doctest.testmod(words).attempted
    assert not doctest.testmod(words).failed
    assert [who(list(range(n)), "zh") for n in (0, 1, 2, 7)] == ["服务器", "客户端 0", "客户端 0、1", "7 个客户端"]
    assert [when(steps, "zh") for steps in ([], [3], [3, 9])] == ["开始时", "第 4 个检查点", "第 4 至 10 个检查点"]


def test_english_is_in_the_rule_and_chinese_in_the_file_of_translations() -> None:
    rule = RULES.find("lr-cut").make
    assert words_of(rule, "en").cause == rule.cause
    assert words_of(rule, "zh").cause.startswith("1/(2σ²) 乘在整个损失前面")


def test_a_language_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="no findings in 'fr'"):
        labels("fr")


def test_a_file_is_read_once() -> None:
    assert texts("equipoise.diagnose", "zh") is texts("equipoise.diagnose", "zh")
