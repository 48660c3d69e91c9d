"""The site of a recommender's federation: all users' histories, and the item features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.client.histories import HistoryFeed
from equipoise.client.history_work import HistoryWork
from equipoise.client.recipe import Recipe
from equipoise.client.sums_feed import SumsFeed, SumsWork
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError
from equipoise.core.values import Indices, Labels, State, Task
from equipoise.data.held_out import Histories
from equipoise.data.interactions import Features, Interactions
from equipoise.data.slices import slice_of
from equipoise.kind.recipe import recipe_of
from equipoise.kind.site import Arrays, Shared, ragged, unragged
from equipoise.memory.product import FeatureRows
from equipoise.memory.settings import HistoryNeeds
from equipoise.memory.windows import History
from equipoise.method.answers import Resolved
from equipoise.models.build import build_recommender, build_tables
from equipoise.models.recommender import Recommender
from equipoise.models.settings import SasrecOptions
from equipoise.server.item_settings import ITEM_SUMS, ItemSumsOptions
from equipoise.server.item_sums import sums_of

TOGETHER = 8
"""Default number of clients on one axis: enough to hide Python's overhead, few enough that scores stay in the cache."""


@dataclass(frozen=True)
class HistorySite:
    config: Config
    method: Resolved
    histories: Histories
    features: Mapping[str, Features]
    users: Sequence[Indices]
    """Which histories each client holds: one user's, or all."""
    is_listed = True

    @property
    def n_clients(self) -> int:
        return len(self.users)

    @property
    def together(self) -> int:
        return self.config.engine.together or TOGETHER

    def counts(self, client: int) -> Labels:
        """Number of targets; in a stream, over all slices that are trained on."""
        slices = self.histories.slices
        ends = self.histories.train_end if slices is None else slices[:, -2]
        return np.array([int((ends[self.users[client]] - 1).clip(min=0).sum())])

    def samples(self, client: int) -> int:
        return int(self.counts(client)[0])

    def shared(self) -> Shared:
        data, split = self.histories.interactions, self.histories
        arrays: dict[str, NDArray[Any]] = {"items": data.items, "bounds": data.bounds, "train_end": split.train_end}
        arrays |= ragged("users", self.users)
        arrays |= {} if split.slices is None else {"slices": split.slices}
        for name, table in self.features.items():
            arrays |= {f"rows.{name}": table.rows, f"present.{name}": table.present}
        return arrays, {"n_items": data.n_items, "features": list(self.features), "split": split.split}

    def only(self, clients: Collection[int]) -> HistorySite:
        """The site of a machine that holds these clients: nobody else's history, and the whole catalogue."""
        data, split = self.histories.interactions, self.histories
        held = np.zeros(data.n_users, dtype=bool)
        held[np.concatenate([self.users[client] for client in clients])] = True
        items = data.items[np.repeat(held, np.diff(data.bounds))]
        bounds = np.cumsum([0, *np.where(held, np.diff(data.bounds), 0)])
        own = replace(data, items=items, bounds=bounds, times=None)
        slices = None if split.slices is None else np.where(held[:, None], split.slices, 0)
        parts = replace(split, interactions=own, train_end=np.where(held, split.train_end, 0), slices=slices)
        return replace(self, histories=parts)

    @classmethod
    def of_shared(cls, config: Config, method: Resolved, arrays: Arrays, facts: Mapping[str, Any]) -> HistorySite:
        """A site without timestamps, names and held-out items, which no client needs."""
        ids = np.arange(facts["n_items"])
        data = Interactions("shared", arrays["items"], arrays["bounds"], None, np.arange(len(arrays["train_end"])), ids)
        nowhere = np.full(data.n_users, -1)
        split = Histories(data, facts["split"], arrays["train_end"], nowhere, nowhere, arrays.get("slices"))
        tables = {name: Features(name, arrays[f"rows.{name}"], arrays[f"present.{name}"]) for name in facts["features"]}
        return cls(config, method, split, tables, unragged("users", arrays))

    def parts(self) -> tuple[Recommender, HistoryWork]:
        """The network, and how histories are prepared for it."""
        config, method, needs = self.config, self.method, needs_of(self.method)
        model = build_recommender(config.model, self.histories.interactions.n_items, self.features, config.seed)
        assert isinstance(config.model, SasrecOptions)
        reads = bool(model.experts)
        work = HistoryWork(
            config,
            config.clock,
            config.model,
            model.backbone.n_masks,
            combined({name: self.features[name] for name in model.experts}) if reads else None,
            {name: self.features[name].rows.shape[1] for name in model.experts},
            needs.memory if reads else None,
            needs.prototypes if reads else 0,
            needs.negatives,
            self.histories.interactions.n_items,
            holds_rows=not method.carries,
        )
        return model, work

    def recipe(self) -> Recipe:
        if isinstance(self.method.for_kind, ItemSumsOptions):
            return self._recipe_of_sums()
        (model, work), method = self.parts(), self.method

        def feed(task: Task) -> HistoryFeed:
            return HistoryFeed(work, task, self._held(task))

        return recipe_of(self.config, method, model, work, feed)

    def _recipe_of_sums(self) -> Recipe:
        n_items = self.histories.interactions.n_items

        def feed(task: Task) -> SumsFeed:
            return SumsFeed(self._held(task), n_items)

        model = build_tables(self.config.model, n_items, self.config.seed)
        return recipe_of(self.config, self.method, model, SumsWork(self.config.clock), feed)

    def _held(self, task: Task) -> list[History]:
        """The histories of a task's client."""
        return [self.history(user, task.step) for user in self.users[task.client]]

    def answer(self, recipe: Recipe, task: Task) -> State:
        """The sums of a client's histories, where the server adds their scores to those of a trained model."""
        if task.question != ITEM_SUMS:
            what = "users' histories answer no questions but one, for their sums"
            raise ConfigError(what, where="server.predict", fix="leave it out; server.sums ranks by sums too")
        options = ItemSumsOptions(score=self.config.server.sums or "blend")
        held = [history.items[: history.last] for history in self._held(task)]
        return sums_of(held, self.histories.interactions.n_items, options)

    def multiply_adds(self) -> int | None:
        """None: the cost of networks that rank items is not estimated."""
        return None

    def history(self, user: int, step: int) -> History:
        """A user's items up to the end of the training part at that step, and which of them are targets."""
        items, slices = self.histories.interactions.history(user), self.histories.slices
        if slices is None:
            return History(items[: self.histories.train_end[user]], 1, int(self.histories.train_end[user]))
        here = slice_of(step, self.config.steps, slices.shape[1] - 1)
        first, last = slices[user, here : here + 2].tolist()
        return History(items[:last], max(1, first), last)

    def is_idle(self, client: int, step: int) -> bool:
        histories = [self.history(user, step) for user in self.users[client]]
        return all(history.first >= history.last for history in histories)


def needs_of(method: Resolved) -> HistoryNeeds:
    """The method's settings for histories; the defaults if it has none."""
    return method.for_kind if isinstance(method.for_kind, HistoryNeeds) else HistoryNeeds()


def combined(features: Mapping[str, Features]) -> FeatureRows:
    """All modalities side by side, with rows of length 1: the features by which memories compare items."""
    joined = np.concatenate([table.rows for table in features.values()], axis=1)
    norm = np.linalg.norm(joined, axis=1, keepdims=True)
    rows: FeatureRows = (joined / np.where(norm > 0, norm, 1)).astype(np.float32)
    return rows
