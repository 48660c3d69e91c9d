"""The words of a report in the reader's language, from `languages/{language}.yaml`.

The sentences of findings and the words around them belong to `diagnose.words`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from equipoise.diagnose.language import check_language, texts
from equipoise.diagnose.words import labels


class Say(Protocol):
    """The text under a key, with values filled in."""

    def __call__(self, key: str, **values: object) -> str: ...


def report_words(language: str) -> Mapping[str, str]:
    """All texts of a report in that language, by key."""
    return texts("equipoise.report", check_language(language))


def words(language: str) -> Say:
    """Looks up texts of a report, and of what stands around findings, in that language."""
    known = {**labels(language), **report_words(language)}

    def say(key: str, **values: object) -> str:
        return known[key].format(**values) if values else known[key]

    return say
