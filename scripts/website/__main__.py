"""Builds the site of this version, and checks its links.

python -m scripts.website                     into site/<version>/; other versions in site/ stay
python -m scripts.website --version 0.2.0     under that name instead of the changelog's
python -m scripts.website --to public         into another folder
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import time
from pathlib import Path

from scripts.check_links import problems
from scripts.website.gallery import write_gallery
from scripts.website.library import write_library
from scripts.website.navigation import navigation
from scripts.website.pages import ROOT, gather
from scripts.website.versions import version_of, write_versions

from equipoise.core.errors import MissingExtra

NEEDS_ROOT = "404.html"
"""A page for wrong addresses belongs to the server's root, not to one version; its links would lead nowhere."""


def html(pages: Path, folder: Path) -> None:
    """The pages as HTML. A warning is an error here, because mkdocs.yml is strict."""
    try:
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import Abort
    except ImportError as error:
        what = "the site is built by packages that are not installed"
        raise MissingExtra(what, where="docs", fix="pip install 'equipoise[docs]', or make site") from error

    config = load_config(
        str(ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(folder), nav=navigation(pages), strict=True
    )
    config.plugins.on_startup(command="build", dirty=False)
    try:
        build(config)
    except Abort as error:
        raise SystemExit(f"{error}: see the warnings above; nothing was put into the site") from error
    finally:
        config.plugins.on_shutdown()
    (folder / NEEDS_ROOT).unlink()


def build_version(version: str, site: Path, work: Path) -> list[str]:
    """Build it in a folder of its own, and put it into the site when it is whole. Returns what the gallery drew."""
    pages, folder = work / "pages", work / "html" / version
    gather(ROOT, pages)
    write_library(pages)
    made = write_gallery(pages, work / "gallery")
    html(pages, folder)
    dead = list(problems(folder))
    if dead:
        raise SystemExit("\n".join([*dead, f"{len(dead)} dead links; nothing was put into {site}"]))
    site.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(site / version, ignore_errors=True)
    shutil.move(folder, site / version)
    write_versions(site)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.website", description=__doc__.splitlines()[0])
    parser.add_argument("--version", default=version_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    parser.add_argument("--to", type=Path, default=ROOT / "site")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "site", help="pages and kept runs of the build")
    asked = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    began = time.monotonic()
    made = build_version(asked.version, asked.to, asked.work)
    n_pages = len(list((asked.to / asked.version).rglob("*.html")))
    drawn = ", ".join(made) or "nothing, all was kept"
    print(f"{asked.to / asked.version}: {n_pages} pages in {time.monotonic() - began:.0f} s; drawn anew: {drawn}")


if __name__ == "__main__":
    sys.exit(main())
