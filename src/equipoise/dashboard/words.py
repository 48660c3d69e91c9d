"""The words of the pages in the reader's language, from `languages/{language}.yaml`."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.diagnose.language import LANGUAGES, check_language, texts
from equipoise.diagnose.words import labels
from equipoise.report.words import Say

PACKAGE = "equipoise.dashboard"


def dashboard_words(language: str) -> Mapping[str, str]:
    """All texts of the pages, by key."""
    return texts(PACKAGE, check_language(language))


def words(language: str) -> Say:
    """Looks up a text; an event of an unknown kind, such as a plugin's, is called by its kind."""
    known = {**labels(language), **dashboard_words(language)}

    def say(key: str, **values: object) -> str:
        text = known.get(key, key.rpartition(".")[2]) if key.startswith(("event.", "map.")) else known[key]
        return text.format(**values) if values else text

    return say


def script_words(language: str) -> dict[str, str]:
    """What the page's script says."""
    found = {key.removeprefix("js."): text for key, text in dashboard_words(language).items() if key.startswith("js.")}
    return {**found, "language": language}


def chosen(asked: str | None, remembered: str | None, accepted: str) -> str:
    """The language of a page: asked for in the address, remembered, or what the browser prefers."""
    for language in (asked, remembered):
        if language in LANGUAGES:
            return str(language)
    order = [part.split(";")[0].strip().lower() for part in accepted[:200].split(",")]
    return next((language for each in order for language in LANGUAGES if each.split("-")[0] == language), "en")
