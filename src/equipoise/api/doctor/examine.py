"""Everything that the doctor looks at. What imports runs in a process of its own meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from equipoise.api.doctor import child, packages, places
from equipoise.api.doctor.checkup import Checkup

PARTS = ("python", "packages", "devices", "extras", "store", "data", "plugins", "tools")
"""The headings, in their order."""


def examine(store: str | None = None) -> list[Checkup]:
    """Every checkup, by part; `store` is a path or URL, otherwise the default store."""
    process = child.begun()
    found = [
        *packages.python_checkups(),
        *_survived("packages", packages.required_checkups),
        *_survived("extras", packages.extra_checkups),
        *_survived("store", lambda: places.store_checkups(store)),
        *places.compiler_checkups(),
        *child.ended(process),
    ]
    return sorted(_without_doubles(found), key=lambda each: PARTS.index(each.part))


def _survived(part: str, look: Callable[[], list[Checkup]]) -> list[Checkup]:
    """A damaged package may raise anything in whatever needs it, and the other checkups must still be made."""
    try:
        return look()
    except Exception as error:
        says = f"could not be looked at: {type(error).__name__}: {error}"
        return [Checkup(part, part, "broken", says, "see the packages that are broken")]


def _without_doubles(found: list[Checkup]) -> list[Checkup]:
    """A package that is missing, or cannot be imported, is reported once, by what says more."""
    broken = {(each.part, each.name) for each in found if each.state == "broken"}
    kept: list[Checkup] = []
    for each in found:
        is_told = (each.part, each.name) in {(other.part, other.name) for other in kept}
        if not is_told and (each.state == "broken" or (each.part, each.name) not in broken):
            kept.append(each)
    return kept
