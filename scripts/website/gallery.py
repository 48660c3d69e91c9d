"""Trains the stories of the gallery, draws their pictures and reports, and writes a page for each.

Runs are kept in a store for each story, under the hash of its configurations. What was drawn is kept too, under a hash
of the configurations and of the source that draws it. So a second build trains and draws nothing.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from scripts.website.showcase import contents, page_of_partitions, page_of_story
from scripts.website.stories import ALPHAS, STORIES, Story

import equipoise as eq
from equipoise.run.grid import load_grid

SOURCES = [Path(eq.__file__).parent, Path(__file__).with_name("showcase.py"), Path(__file__).with_name("stories.py")]
HASH = 16
"""Letters of a hash in a name."""
DRAWN_BY = {".py", ".yaml", ".css", ".js", ".html"}
"""Endings of the files that what is drawn depends on."""


def write_gallery(pages: Path, kept: Path) -> list[str]:
    """Put the section into the folder of pages; the names of what had to be made anew."""
    kept.mkdir(parents=True, exist_ok=True)
    source = source_hash(SOURCES)
    (pages / "gallery").mkdir()
    made = []
    for name, key, draw in parts(kept):
        folder = kept / f"{name}-{digest([source, *key])}"
        if not folder.is_dir():
            drawn_into(folder, name, draw)
            made.append(name)
        shutil.copytree(folder, pages / "gallery", dirs_exist_ok=True)
    (pages / "gallery" / "index.md").write_text(contents(STORIES), encoding="utf-8")
    return made


def parts(kept: Path) -> Iterable[tuple[str, list[str], Callable[[Path], None]]]:
    """Name, what it is made from, and how it is drawn into a folder."""
    yield "partitions", [str(alpha) for alpha in ALPHAS], page_of_partitions
    for story in STORIES:
        hashes = configurations(story)
        store = kept / f"{story.name}.{digest(hashes)}.db"
        yield story.name, hashes, partial(page_of_story, story, store)


def configurations(story: Story) -> list[str]:
    """The hashes of its runs' configurations."""
    grid = load_grid(story.preset, dict(story.settings), story.seeds)
    return [f"{cell.label} {cell.config.seed} {cell.config.fingerprint()}" for cell in grid.cells]


def drawn_into(folder: Path, name: str, draw: Callable[[Path], None]) -> None:
    """Draw aside and then give the folder its name, so that half a story is never shown; older ones go."""
    begun = folder.parent / f".{name}"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir()
    draw(begun)
    for old in folder.parent.glob(f"{name}-{'?' * HASH}"):
        shutil.rmtree(old)
    begun.rename(folder)


def source_hash(sources: Iterable[Path]) -> str:
    """Of everything in these folders and files that a picture or a page could depend on."""
    found = [path for source in sources for path in (source.rglob("*") if source.is_dir() else [source])]
    files = sorted(path for path in found if path.suffix in DRAWN_BY)
    return digest(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files)


def digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:HASH]
