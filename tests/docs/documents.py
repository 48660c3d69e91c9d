"""The documentation as the tests read it: files, fenced blocks, links, tables."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README, README_ZH = ROOT / "README.md", ROOT / "README.zh-CN.md"
DOCUMENTS = [README, README_ZH, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


class Block(NamedTuple):
    """A fenced block: its language and its text."""

    language: str
    text: str


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, language: str | None = None) -> list[Block]:
    found = [Block(*match) for match in re.findall(r"^```(\w*)\n(.*?)^```$", read(path), re.DOTALL | re.MULTILINE)]
    return [block for block in found if language is None or block.language == language]


def prose(path: Path) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```\w*\n.*?^```$", "", read(path), flags=re.DOTALL | re.MULTILINE)


def links(path: Path) -> list[str]:
    """Targets of the links and images that are not on the web."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(path))
    return [target for target in targets if "://" not in target]


def tables(path: Path) -> list[list[list[str]]]:
    """Every table as rows of cells, without its line of dashes."""
    found: list[list[list[str]]] = [[]]
    for line in prose(path).splitlines():
        if line.startswith("|"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not all(set(cell) <= set("-: ") for cell in cells):
                found[-1].append(cells)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def slug(heading: str) -> str:
    """A heading as the web names its place: lower case, dashes for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def generator() -> ModuleType:
    """scripts/write_reference.py, which is not part of a package."""
    spec = importlib.util.spec_from_file_location("write_reference", ROOT / "scripts" / "write_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
