"""Settings of a recommender in closed form: which sums of its history a user sends, and how the server solves them."""

from __future__ import annotations

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.choices import ItemScore
from equipoise.core.values import Question

ITEM_SUMS = Question("item-sums", through="data")
"""Asks users for the sums of their histories."""


class ItemSumsOptions(MethodOptions):
    name: str = "analytic-items"
    score: ItemScore = Field("blend", description="what ranks: transitions, the ridge on windows, or the sum of both")
    gaps: int = Field(5, ge=1, le=10, description="largest distance of two items that counts as a transition")
    newest: int = Field(10, ge=1, description="newest items of a history from which transitions are followed")
    window: int = Field(16, ge=1, description="items before the next one that the ridge reads")
    decay: float = Field(0.8, gt=0, le=1, description="weight of an item of the window, from each to the one before it")
    strength: float = Field(100.0, gt=0, description="r, what is added to the diagonal of the ridge's Gram matrix")
    damping: float = Field(
        0.5,
        ge=0,
        le=1,
        description="in the blend, ridge scores are divided by this power of how often an item came next",
    )

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the server forms: one, or both."""
        return ("markov", "ridge") if self.score == "blend" else (self.score,)
