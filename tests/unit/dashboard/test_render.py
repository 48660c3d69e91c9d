"""Content → HTML, and numbers as people read them."""

from __future__ import annotations

import json
import math

import pytest

from equipoise.dashboard import render
from equipoise.dashboard.problems import Problems
from equipoise.dashboard.view import Visitor

PROBLEM = Problems(status=404, error="<i>`code`</i>", next="say `<b>`")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.nan, "–"),
        (0.0, "0.00 %"),
        (1.0, "100.00 %"),
        (0.12345, "12.35 %"),
        (1.5, "1.5"),
        (-0.25, "-0.25"),
    ],
)
def test_a_share_is_shown_in_per_cent(value: float | None, text: str) -> None:
    assert render.percent(value) == text


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.123456, "0.1235"), (123456.0, "1.235e+05"), (0.0, "0")])
def test_a_number_has_four_digits(value: float | None, text: str) -> None:
    assert render.number(value) == text


def test_code_in_backticks_is_code_and_nothing_else_is() -> None:
    text = render.page("problem", PROBLEM, Visitor("en", False), address="/x")
    assert "&lt;i&gt;`code`&lt;/i&gt;" in text
    assert "<code>&lt;b&gt;</code>" in text


def test_data_in_a_page_is_json_that_no_script_ends() -> None:
    value = {"a": "</script><!--&\u2028", "b": [1, None, "ü"]}
    text = str(render._json(value))
    assert not set(text) & set("<>&")
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("address", "language", "other"),
    [
        ("/", "en", "/?lang=zh"),
        ("/", "zh", "/?lang=en"),
        ("/?lang=en", "en", "/?lang=zh"),
        ("/?lang=en&text=x", "en", "/?text=x&lang=zh"),
        ("/?text=x&lang=zh&page=2", "zh", "/?text=x&page=2&lang=en"),
        ("/?slang=x", "en", "/?slang=x&lang=zh"),
    ],
)
def test_the_other_language_is_the_same_page(address: str, language: str, other: str) -> None:
    assert render._in_other_language(address, language) == other


def test_a_part_is_the_page_without_its_frame() -> None:
    whole = render.page("problem", PROBLEM, Visitor("en", True), address="/x")
    part = render.page("problem", PROBLEM, Visitor("en", True), address="/x", part=True)
    assert part.strip() in whole
    assert "<html" not in part
    assert "<script" not in part


@pytest.mark.parametrize(("language", "other"), [("en", "zh"), ("zh", "en")])
def test_a_page_says_its_language_and_offers_the_other(language: str, other: str) -> None:
    text = render.page("problem", PROBLEM, Visitor(language, False), address="/x")
    assert f'<html lang="{language}">' in text
    assert f'href="/x?lang={other}"' in text
    assert 'data-may-act="no"' in text
