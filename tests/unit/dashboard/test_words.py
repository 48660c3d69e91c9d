"""Both languages say everything that pages and scripts say."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Formatter

import pytest

import equipoise
from equipoise.dashboard.pages.run import MAPS
from equipoise.dashboard.words import chosen, dashboard_words, script_words, words
from equipoise.diagnose.finding import SEVERITIES
from equipoise.diagnose.language import LANGUAGES
from equipoise.diagnose.words import labels
from equipoise.store.records import STATUSES

FOLDER = files("equipoise.dashboard")
TEMPLATES = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.joinpath("templates").iterdir()}
SCRIPTS = {
    path.name: path.read_text(encoding="utf-8")
    for path in FOLDER.joinpath("assets").iterdir()
    if path.name.endswith(".js")
}


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts_with_the_same_places() -> None:
    english, chinese = (dashboard_words(language) for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    assert {key: places(text) for key, text in english.items()} == {key: places(text) for key, text in chinese.items()}
    assert all(str(text).strip() for known in (english, chinese) for text in known.values())
    same = {key for key in english if english[key] == chinese[key]}
    assert not {key for key in same if len(english[key].split()) > 2}, "not translated"


def test_every_text_is_a_text() -> None:
    for language in LANGUAGES:
        assert {key for key, text in dashboard_words(language).items() if not isinstance(text, str)} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_that_a_template_says_exists_and_gets_its_values(language: str) -> None:
    known, seen = {**labels(language), **dashboard_words(language)}, 0
    for name, template in TEMPLATES.items():
        for key, values in re.findall(r"say\('([\w.]+)'((?:, \w+=)?)", template):
            seen += 1
            assert key in known or key in {"event.", "map."}, f"{name} says {key}"
            assert bool(values) == bool(places(known.get(key, ""))), f"{name}: values of {key}"
    assert seen > 80


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_that_pages_choose_by_a_value_exist(language: str) -> None:
    say = words(language)
    for key in (*STATUSES, *SEVERITIES, "joined", "lost", "machine_refused", "running", "done", "failed"):
        assert say(key)
    for metric in MAPS:
        assert f"map.{metric}" in dashboard_words(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_scripts_exists_with_its_places(language: str) -> None:
    known, said = script_words(language), set[str]()
    for name, script in SCRIPTS.items():
        for argument in re.findall(r"""say\(([^,)]*)""", script):
            said |= set(re.findall(r"[\"'](\w+)[\"']", argument)) or {argument}
        assert "say(" in script or name == "charts.js"
    said -= {"key", "`sure_${button.dataset.sure}`"}
    sure = set(re.findall(r'data-sure="(\w+)"', "".join(TEMPLATES.values())))
    assert said | {f"sure_{name}" for name in sure} == known.keys() - {"language"}


def test_an_event_of_a_plugin_is_called_by_its_kind() -> None:
    assert words("en")("event.my-plugin-did-it") == "my-plugin-did-it"
    with pytest.raises(KeyError):
        words("en")("no_such_text")


def test_every_event_that_the_product_records_has_a_word() -> None:
    """Kinds are written as Event("kind", …) in the source."""
    source = Path(equipoise.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in source.rglob("*.py")]
    kinds = {kind for text in texts for kind in re.findall(r"\bEvent\(\s*\"([a-z-]+)\"", text)}
    assert len(kinds) > 10
    assert {kind for kind in kinds if f"event.{kind}" not in dashboard_words("en")} == set()


@pytest.mark.parametrize(
    ("asked", "remembered", "accepted", "language"),
    [
        (None, None, "", "en"),
        ("zh", "en", "en", "zh"),
        ("fr", "zh", "en", "zh"),
        (None, "fr", "zh-CN,en;q=0.5", "zh"),
        (None, None, "fr-CH, fr;q=0.9, ZH;q=0.8, en;q=0.7", "zh"),
        (None, None, "en-GB,zh", "en"),
        (None, None, ";;;,,,", "en"),
        ("../../etc", "<script>", "x" * 10_000, "en"),
    ],
)
def test_the_language_of_a_page(asked: str | None, remembered: str | None, accepted: str, language: str) -> None:
    assert chosen(asked, remembered, accepted) == language
