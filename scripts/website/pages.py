"""Gathers the pages of the site: README as its front page, docs/, the changelog and what comes with them.

Links between files of the repository become links between pages of the site.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from scripts.website.notebook import as_markdown

ROOT = Path(__file__).resolve().parents[2]
OWN = Path(__file__).parent / "pages"
"""Pages and assets of the site that are not documentation by themselves."""
FRONT = {
    "README.md": "index.md",
    "README.zh-CN.md": "zh.md",
    "docs/index.md": "start.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "LICENSE": "license.md",
}
"""Files of the repository whose place in the site is not that in docs/."""
FENCE = re.compile(r"^(```.*?^```)$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def pages_of(root: Path) -> dict[str, str]:
    """Every file of the repository that the site shows → its place in the site."""
    docs = root / "docs"
    files = {path.relative_to(root).as_posix() for path in docs.rglob("*") if path.is_file()}
    placed = {name: name.removeprefix("docs/") for name in sorted(files)}
    notebooks = {
        name: place.removesuffix(".ipynb") + ".md" for name, place in placed.items() if name.endswith(".ipynb")
    }
    return placed | notebooks | FRONT


def gather(root: Path, folder: Path) -> None:
    """Write the pages into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(OWN, folder)
    placed = pages_of(root)
    for name, place in placed.items():
        source, target = root / name, folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix != ".md":
            shutil.copyfile(source, target)
            continue
        target.write_text(relinked(text_of(source), name, placed), encoding="utf-8")
        if source.suffix == ".ipynb":
            shutil.copyfile(source, target.with_suffix(".ipynb"))


def text_of(source: Path) -> str:
    """A file of the repository as Markdown."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".ipynb":
        return as_markdown(text, source.name)
    return f"# Licence\n\n```text\n{text}```\n" if source.name == "LICENSE" else text


def relinked(text: str, name: str, placed: Mapping[str, str]) -> str:
    """The page with its links as the site needs them; blocks of code stay as they are."""
    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(lambda link: f"]({target_of(link[1], name, placed)})", part) for part in parts[::2]]
    return "".join(parts)


def target_of(target: str, name: str, placed: Mapping[str, str]) -> str:
    """Where a link of the file `name` leads in the site."""
    path, mark, place = target.partition("#")
    if "://" in target or not path:
        return target
    file = os.path.normpath(os.path.join(os.path.dirname(name), path))
    if file not in placed:  # the notebook itself, beside its page
        return target
    return os.path.relpath(placed[file], os.path.dirname(placed[name]) or ".") + mark + place
