"""Writes charts and pages to files. A path that cannot be written is an error in the request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import altair as alt

from equipoise.core.errors import ConfigError

FORMATS: dict[str, Literal["html", "svg", "png", "pdf", "json"]] = {
    ".html": "html", ".svg": "svg", ".png": "png", ".pdf": "pdf", ".json": "json",
}  # fmt: skip


def save(picture: alt.TopLevelMixin, path: Path) -> None:
    """Writes the chart in the format of the suffix; HTML includes its scripts and needs no network."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        what = f"cannot draw a '{path.suffix}' file: {path.name}"
        raise ConfigError(what, where="--output", fix=f"use one of {', '.join(FORMATS)}")
    extra: dict[str, Any] = {"inline": True} if suffix == ".html" else {}
    with writing(path):
        picture.save(path, format=FORMATS[suffix], scale_factor=2 if suffix == ".png" else 1, **extra)


def write_text(path: Path, text: str) -> None:
    with writing(path):
        path.write_text(text, encoding="utf-8")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Creates the folder and turns OS errors into a ConfigError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error}", where="--output", fix="give another place") from error
