"""Content → HTML, by Jinja with everything escaped; `part` renders what changes on an open page, without its frame."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape
from pydantic import BaseModel

from equipoise import __version__
from equipoise.dashboard.view import Visitor
from equipoise.dashboard.words import script_words, words
from equipoise.report.times import date_text, duration_text


def page(name: str, content: BaseModel, visitor: Visitor, *, address: str, part: bool = False) -> str:
    say = words(visitor.language)
    return (
        _environment()
        .get_template(f"{name}.html")
        .render(
            page=content,
            say=say,
            visitor=visitor,
            address=address,
            other_language=_in_other_language(address, visitor.language),
            part=part,
            version=__version__,
            texts=_json(script_words(visitor.language)),
        )
    )


@cache
def _environment() -> Environment:
    made = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(lambda name: files("equipoise.dashboard").joinpath("templates", name).read_text("utf-8")),
    )
    made.filters |= {"coded": _coded, "percent": percent, "number": number, "date": date_text, "long": duration_text}
    made.filters["data"] = _json
    return made


def percent(value: float | None) -> str:
    """A share in per cent; a number that is no share as it is."""
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:.2f} %" if 0 <= value <= 1 else f"{value:.4g}"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _coded(text: str) -> Markup:
    """Turns `text in backticks` into <code>."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _json(value: Any) -> Markup:
    """JSON that is safe inside a <script> element."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _in_other_language(address: str, language: str) -> str:
    """The same address, in the other language."""
    bare = re.sub(r"([?&])lang=\w*&?", r"\1", address).rstrip("?&")
    other = "en" if language == "zh" else "zh"
    return f"{bare}{'&' if '?' in bare else '?'}lang={other}"
