"""Which ways to predict need the clients again after their upload: never one-shot, and marked wherever they are shown.

Each declares it as a trait, beside its name, so that rooms that read the store alone know it without its code.
"""

from __future__ import annotations

from equipoise.core.registry import PREDICTS

TRAIT = "second-exchange"
"""As `config/traits` calls it."""


def needs_second_exchange(predict: str | None) -> bool:
    """Whether that way to predict sends anything to the clients; a name that is not known here does not say so."""
    return any(TRAIT in entry.traits for entry in PREDICTS if predict in (entry.name, *entry.aliases))
