"""Checks every link of a built site: files and anchors that are not there, pictures, and what is taken from the web.

    python scripts/check_links.py site/dev       exit 1 when a link is dead, with page and target

Links to the web are checked for their form only; nothing is fetched. A page must not load anything from the web.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("link", "href")}
"""What a browser fetches by itself."""
ONLY_NAMED = {"canonical", "alternate", "prev", "next", "license"}
"""Links of a head that are not fetched."""
LINKS = LOADS | {("a", "href"), ("area", "href"), ("form", "action"), ("object", "data")}
SCHEMES = {"mailto", "data", "javascript", "blob"}
ADDRESS = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?", re.IGNORECASE)


class Link(NamedTuple):
    target: str
    is_loaded: bool
    """Whether a browser fetches it without being asked."""


class Page(HTMLParser):
    """The links of a page, and the places in it that a link can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {value for key in ("id", "name") if (value := given.get(key))}
        for key, value in given.items():
            if (tag, key) in LINKS and value is not None:
                loads = (tag, key) in LOADS and not set((given.get("rel") or "").split()) & ONLY_NAMED
                self.links.append(Link(value.strip(), loads))
        for part in filter(None, (given.get("srcset") or "").split(",")):
            self.links.append(Link(part.split()[0], True))


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def problems(site: Path) -> Iterator[str]:
    """A line for every link of the site that leads nowhere."""
    site = site.resolve()
    for path in sorted(site.rglob("*.html")):
        for link in dict.fromkeys(read(path).links):
            wrong = wrong_with(link, path, site)
            if wrong:
                yield f"{path.relative_to(site)}: {link.target}: {wrong}"


def wrong_with(link: Link, page: Path, site: Path) -> str | None:
    """What is wrong with a link of a page, if anything."""
    parts = urlsplit(link.target)
    if parts.scheme in SCHEMES:
        return None
    if parts.scheme or parts.netloc:
        return wrong_address(link, parts.scheme, parts.netloc)
    start = site if parts.path.startswith("/") else page.parent
    file = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
    file = file / "index.html" if file.is_dir() else file
    if not file.is_relative_to(site.parent):
        return "leads out of the site"
    if not file.is_file():
        return "no such file"
    place = unquote(parts.fragment)
    if place and file.suffix == ".html" and place not in read(file).places:
        return "no such place in that page"
    return None


def wrong_address(link: Link, scheme: str, host: str) -> str | None:
    if link.is_loaded:
        return "is loaded from the web"
    if scheme not in {"http", "https"} or not ADDRESS.fullmatch(host) or " " in link.target:
        return "is no address"
    return None


def main() -> int:
    (site,) = map(Path, sys.argv[1:])
    if not (site / "index.html").is_file():
        print(f"{site} is not a site: it has no index.html; build one with `make site`", file=sys.stderr)
        return 2
    found = list(problems(site))
    print("\n".join([*found, f"{len(found)} dead links in {len(list(site.rglob('*.html')))} pages of {site}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
