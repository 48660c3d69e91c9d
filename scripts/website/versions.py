"""Which version of the documentation this is, and which are in the folder of the site.

The site has one folder per version and `versions.json` beside them, which the version selector reads.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

DEV = "dev"
"""The version between two releases."""
RELEASE = re.compile(r"\d+(\.\d+)*")
ENTRY = re.compile(r"^(?:\*|-|\d+\.) ", re.MULTILINE)


def version_of(changelog: str) -> str:
    """`dev` if the changelog has entries that are not released, otherwise the last release."""
    parts = dict(re.findall(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE))
    if ENTRY.search(parts.get("Unreleased", "")):
        return DEV
    return next((name for name in parts if RELEASE.fullmatch(name)), DEV)


def built(site: Path) -> list[str]:
    """The versions of a site, the one in development first, then releases from the newest on."""
    found = [path.parent.name for path in site.glob("*/index.html")]
    releases = [name for name in found if RELEASE.fullmatch(name)]
    newest_first = sorted(releases, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return [*([DEV] if DEV in found else []), *newest_first]


def write_versions(site: Path) -> None:
    """`versions.json`, and a front page that leads to the newest release."""
    versions = built(site)
    latest = next((name for name in versions if name != DEV), DEV)
    described = [
        {"version": name, "title": name, "aliases": ["latest"] if name == latest and name != DEV else []}
        for name in versions
    ]
    (site / "versions.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    (site / "index.html").write_text(forward(latest), encoding="utf-8")


def forward(version: str) -> str:
    """A page that sends its reader on to the front page of a version."""
    folder = escape(version, quote=True)
    place = f"{folder}/index.html"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Equipoise</title>\n'
        f'<link rel="icon" href="{folder}/assets/balance.svg">\n'
        f'<meta http-equiv="refresh" content="0; url={place}">\n</head>\n'
        f'<body><p><a href="{place}">The documentation of Equipoise</a></p></body>\n</html>\n'
    )
