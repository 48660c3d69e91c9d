"""Which predictors need the clients again after their upload. They are never one-shot, and are marked wherever shown.

Each declares this as a trait beside its name, so that code that only reads the store need not import it.
"""

from __future__ import annotations

from equipoise.core.registry import PREDICTS

TRAIT = "second-exchange"
"""As `config/traits` calls it."""


def needs_second_exchange(predict: str | None) -> bool:
    """Whether that predictor sends anything to the clients; False for a name that is not registered here."""
    return any(TRAIT in entry.traits for entry in PREDICTS if predict in (entry.name, *entry.aliases))
