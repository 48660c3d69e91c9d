"""Every page in its section. Within a section, pages come in the order in which docs/index.md names them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

SECTIONS = {
    "tutorials": "Tutorials",
    "howto": "How to",
    "explanation": "Explanation",
    "reference": "Reference",
    "api": "Python",
    "results": "Results",
    "gallery": "Gallery",
}
"""Folders in the order of the tabs; other folders come after them."""
HOME = ["index.md", "start.md"]
CHINESE = "zh.md"
LAST = "Project"
"""The section of the other pages beside the front page."""


def navigation(folder: Path) -> list[dict[str, object]]:
    """The value of `nav` for the pages of that folder."""
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    order = named(folder / "start.md")
    pages.sort(key=lambda page: (posixpath.basename(page) not in {"index.md", "README.md"}, place(page, order), page))
    folders = list(dict.fromkeys([*SECTIONS, *(page.split("/")[0] for page in pages if "/" in page)]))
    sections = {SECTIONS.get(each, each.capitalize()): inside(pages, each) for each in folders}
    project = [page for page in pages if "/" not in page and page not in {*HOME, CHINESE}]
    nav = [{"Home": HOME}, *({title: found} for title, found in sections.items() if found)]
    return [*nav, {LAST: project}, {"中文": CHINESE}]


def inside(pages: Iterable[str], folder: str) -> list[str]:
    return [page for page in pages if page.startswith(f"{folder}/")]


def named(start: Path) -> list[str]:
    """The pages that the start page links to, first mention first; a notebook is a page here."""
    targets = re.findall(r"\]\(([^)#\s]+)", start.read_text(encoding="utf-8"))
    return list(dict.fromkeys(re.sub(r"\.ipynb$", ".md", target) for target in targets))


def place(page: str, order: list[str]) -> int:
    return order.index(page) if page in order else len(order)
