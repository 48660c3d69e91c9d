"""What every page needs: the store, what is known of it, and who asks, in which language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from equipoise.dashboard.actions import Actions
from equipoise.dashboard.background import Background
from equipoise.dashboard.budget import Budget
from equipoise.dashboard.changes import Changes, said
from equipoise.dashboard.feed import ChangeFeed
from equipoise.dashboard.grids import Grids
from equipoise.dashboard.verdicts import Verdicts
from equipoise.store.records import Run
from equipoise.store.transact import Store
from equipoise.store.watching import all_progress


@dataclass(frozen=True)
class Dashboard:
    """One store, watched."""

    store: Store
    location: str
    """Of the store, as the processes are told that the dashboard starts."""

    @cached_property
    def budget(self) -> Budget:
        return Budget()

    @cached_property
    def changes(self) -> Changes:
        return Changes(self.store)

    @cached_property
    def feed(self) -> ChangeFeed:
        return ChangeFeed(self.changes, self.budget)

    @cached_property
    def background(self) -> Background:
        return Background(self.feed.mention, self.budget)

    @cached_property
    def grids(self) -> Grids:
        return Grids(self.store)

    @cached_property
    def verdicts(self) -> Verdicts:
        return Verdicts(self.store, self.background)

    @cached_property
    def actions(self) -> Actions:
        return Actions(self.store, self.location)

    def progress(self) -> dict[str, dict[str, Any]]:
        return all_progress(self.store)

    def now(self, found: Iterable[Run]) -> dict[str, dict[str, Any]]:
        """How those of these runs stand that go on, as open pages are told it."""
        going, told = {run.run_id for run in found if run.status == "running"}, self.progress()
        return {run_id: said(told[run_id]) for run_id in going & told.keys()}

    def close(self) -> None:
        self.feed.is_over = True
        self.background.close()
        self.changes.close()
        self.store.close()


@dataclass(frozen=True)
class Visitor:
    language: str
    may_act: bool
