"""Reads the texts that people see from YAML files: one file per language in the folder `languages` of a package.

A file is read when one of its texts is first needed, and only once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from equipoise.core.errors import ConfigError

LANGUAGES = ("en", "zh")


@cache
def texts(package: str, name: str) -> Mapping[str, Any]:
    """The content of `languages/{name}.yaml` in a package."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    source = files(package).joinpath("languages", f"{name}.yaml").read_text(encoding="utf-8")
    content: Mapping[str, Any] = yaml.load(source, Loader=loader)
    return content


def check_language(language: str) -> str:
    """The language itself; an unknown one is an error."""
    if language not in LANGUAGES:
        raise ConfigError(f"there are no findings in '{language}'", fix=f"one of {', '.join(LANGUAGES)}")
    return language
