"""One thing that the doctor looked at, and how it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["ok", "note", "broken"]
"""ok: it works. note: something optional is not there. broken: something needed or asked for does not work."""


@dataclass(frozen=True)
class Checkup:
    """`part` is the heading it belongs under, `says` a sentence, `fix` what to type or do; empty where nothing is."""

    part: str
    name: str
    state: State
    says: str
    fix: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def is_green(checkups: list[Checkup]) -> bool:
    """Nothing is broken."""
    return all(each.state != "broken" for each in checkups)
