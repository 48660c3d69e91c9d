"""Pages in Markdown: what is measured stands between two marks and is written anew; the words around it are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "docs" / "results"
BEGIN, END = "<!-- measured: written by `make study` -->", "<!-- end of what is measured -->"


@dataclass(frozen=True)
class Claim:
    """What a report says, what we measured, and whether it holds."""

    text: str
    measured: str
    holds: bool


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def claims(found: Sequence[Claim]) -> str:
    rows = [[claim.text, claim.measured, "yes" if claim.holds else "**no**"] for claim in found]
    return table(["claim", "measured", "holds"], rows)


def write(name: str, title: str, parts: Sequence[str]) -> Path:
    """Put the parts between the marks of docs/results/<name>.md; a new page gets them under its title."""
    path = RESULTS / f"{name}.md"
    RESULTS.mkdir(parents=True, exist_ok=True)
    before, after = f"# {title}\n\n", "\n"
    if path.exists():
        text = path.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(parts) + f"\n\n{END}{after}", encoding="utf-8")
    return path
