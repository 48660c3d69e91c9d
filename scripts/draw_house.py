"""Draws the rooms of the source and the way that data takes through them: docs/images/house.svg.

The order of the rooms is that of the layers in pyproject.toml, and each one's purpose is the docstring of its package,
so that the picture cannot differ from the code. `make docs` runs this.
"""

from __future__ import annotations

import ast
import tomllib
from html import escape
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "house.svg"
FLOORS = {
    "What is asked for": ("core", "config"),
    "What is learnt from": ("data", "features", "partition"),
    "What a client does": ("models", "objective", "balance", "memory", "client"),
    "What a server does": ("server", "evaluate"),
    "What is put together": ("method", "kind"),
    "Where and when it runs": ("engine", "run"),
    "What is written and read": ("store", "diagnose", "report", "dashboard"),
}
"""The rest of the rooms are doors."""
DOORS = "Doors"
WIDTH, LEFT, GAP, BOX, LINE = 1000, 190, 10, 80, 14
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #1f2933 }
  .room { font-weight: 600; font-size: 14px }
  .floor { font-weight: 600; fill: #52606d }
  rect { fill: #f5f7fa; stroke: #9aa5b1 }
  path { stroke: #2474b0; stroke-width: 2; fill: none; marker-end: url(#tip) }
  #tip path { fill: #2474b0; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb } .floor { fill: #9aa5b1 } rect { fill: #1f2933; stroke: #52606d }
  }
"""


def layers() -> list[str]:
    """Every room, each importing only from those before it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(each for each in project["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    return [str(room) for room in reversed(contract["layers"])]


def purpose(room: str) -> str:
    """The first sentence of the room's docstring."""
    folder = ROOT / "src" / "equipoise" / room
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    doc = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return doc.split("\n")[0].split(". ")[0].removesuffix(".") + "."


def floors() -> dict[str, list[str]]:
    """The rooms of each floor, in the order of the layers."""
    order = layers()
    found = {title: [room for room in order if room in rooms] for title, rooms in FLOORS.items()}
    placed = {room for rooms in found.values() for room in rooms}
    return {**found, DOORS: [room for room in order if room not in placed]}


def picture() -> str:
    parts: list[str] = []
    top = 10
    for number, (title, rooms) in enumerate(floors().items()):
        width = (WIDTH - LEFT - GAP * len(rooms)) / len(rooms)
        parts.append(f'<text class="floor" x="10" y="{top + BOX / 2 + 4:.0f}">{escape(title)}</text>')
        for k, room in enumerate(rooms):
            parts += _room(room, LEFT + k * (width + GAP), top, width)
        if number:
            parts.append(f'<path d="M {LEFT - 14} {top - 12} V {top + 2}"/>')
        top += BOX + 22
    tip = '<marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="6" markerHeight="6" orient="auto">'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img">'
    title = "<title>The rooms of the source: each imports only from those above it</title>"
    marker = f'<defs>{tip}<path d="M 0 0 L 10 5 L 0 10 z"/></marker></defs>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", marker, *parts, "</svg>", ""])


def _room(room: str, left: float, top: float, width: float) -> list[str]:
    lines = wrap(purpose(room), max(10, int(width / 6.4)))[:4]
    box = f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="{BOX}" rx="6"/>'
    name = f'<text class="room" x="{left + 8:.0f}" y="{top + 17}">{escape(room)}</text>'
    texts = [
        f'<text x="{left + 8:.0f}" y="{top + 17 + LINE * (k + 1)}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    ]
    return [box, name, *texts]


def main() -> None:
    PICTURE.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
