"""Which colour a term of the loss has, the same in every chart and for every method."""

from __future__ import annotations

from collections.abc import Iterable

from equipoise.report.palette import GREY, PALETTE

KNOWN = ("cls", "con", "pf", "pp", "align", "rec", "", "lb")
"""In the order of the palette; the place of grey is left to the sum."""
SUM = "base"


def term_places(terms: Iterable[str]) -> dict[str, int]:
    """Places in the palette; a term that is not known here takes one that is free.

    >>> term_places(["align", "base", "cls", "mine"])
    {'align': 4, 'base': 6, 'cls': 0, 'mine': 8}
    """
    others = iter(range(len(KNOWN), len(KNOWN) + len(PALETTE)))
    places = {**{name: place for place, name in enumerate(KNOWN)}, SUM: GREY}
    return {term: places[term] if term in places else next(others) for term in terms}
