"""The words of a report: every language has all of them."""

from __future__ import annotations

import pytest

from equipoise.core.errors import ConfigError
from equipoise.report.words import report_words, words
from tests.unit.diagnose.test_words import placeholders

SAME_IN_BOTH = ["column_n", "lam_max"]


def test_both_languages_have_the_same_keys_and_the_same_placeholders() -> None:
    english, chinese = report_words("en"), report_words("zh")
    assert list(english) == list(chinese)
    assert {key: placeholders(text) for key, text in english.items()} == {
        key: placeholders(text) for key, text in chinese.items()
    }
    assert [key for key, text in chinese.items() if text == english[key]] == SAME_IN_BOTH


def test_values_are_filled_in_and_the_words_around_findings_are_known_too() -> None:
    assert words("en")("client_n", client=3) == "client 3"
    assert words("zh")("client_n", client=3) == "客户端 3"
    assert (words("en")("why"), words("zh")("why")) == ("why", "原因")


def test_a_language_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="'fr'"):
        words("fr")
