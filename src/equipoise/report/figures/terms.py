"""Colours of the loss terms, the same in every chart and for every method."""

from __future__ import annotations

from collections.abc import Iterable

from equipoise.report.palette import GREY, PALETTE

KNOWN = ("cls", "con", "pf", "pp", "align", "rec", "", "lb")
"""In the order of the palette; the sum takes grey."""
SUM = "base"


def term_places(terms: Iterable[str]) -> dict[str, int]:
    """Indices in the palette; an unknown term takes a free one.

    >>> term_places(["align", "base", "cls", "mine"])
    {'align': 4, 'base': 6, 'cls': 0, 'mine': 8}
    """
    others = iter(range(len(KNOWN), len(KNOWN) + len(PALETTE)))
    places = {**{name: place for place, name in enumerate(KNOWN)}, SUM: GREY}
    return {term: places[term] if term in places else next(others) for term in terms}
