"""A client of a recommender with a short history, for tests."""

from __future__ import annotations

import numpy as np

from equipoise.client.histories import HistoryFeed
from equipoise.client.history_work import HistoryWork
from equipoise.config.loader import load
from equipoise.core.clock import Clock
from equipoise.core.values import ClientState, Task
from equipoise.memory.windows import History
from equipoise.models.settings import SasrecOptions

MODEL = SasrecOptions(length=4, width=3, heads=1, dropout=0.5)


def unit_rows(n: int, width: int = 5) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((n, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def feed(items, first=1, last=None, own=None, epochs=range(1), **work) -> HistoryFeed:
    config = load("rec/sasrec", ["client.batch=2"]).config
    made = HistoryWork(config, Clock(10, 10), MODEL, n_masks=2, n_items=50, **work)
    items = np.asarray(items)
    history = History(items, first, len(items) if last is None else last)
    return HistoryFeed(made, Task(0, 7, epochs, {}, ClientState(memory=own or {})), [history])
