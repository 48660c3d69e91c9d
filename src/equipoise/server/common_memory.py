"""The global memory: cluster centres of clients' memories, re-clustered each round and sent down as rows to read.

    rows ← k-means_G( centres of the round's clients ∪ rows of the last round, by the weight behind them )

Modalities are clustered jointly, as one vector, so that a row's picture and its text belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from equipoise.core.values import ClientUpdate, State
from equipoise.memory.product import FeatureRows
from equipoise.memory.prototypes import apart, centres
from equipoise.objective.recommend import COMMON
from equipoise.server.merge import Merge, ServerState

FADE = 0.5
"""Factor on the weight of the last round's rows."""
CENTRES, ROWS, WEIGHTS = "centres.", "common/rows", "common/weights"


def with_common_memory(merge: Merge, rows: int) -> Merge:
    """The merge, extended by a global memory of at most `rows` rows."""

    def merged(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
        after = merge(state, updates)
        report = [
            update.own.report for update in sorted(updates, key=lambda update: update.client) if update.own.report
        ]
        if not report:
            return after
        found, behind = _clustered(report, state.memory, rows)
        kept = {ROWS: torch.from_numpy(found), WEIGHTS: torch.from_numpy(behind)}
        return replace(after, broadcast=_sent(found, report[0]), memory={**after.memory, **kept})

    return merged


def _clustered(report: Sequence[State], memory: State, rows: int) -> tuple[FeatureRows, FeatureRows]:
    parts = [np.concatenate([one[name].numpy() for name in _names(one)], axis=1) for one in report]
    weights = [one["weights"].numpy() for one in report]
    if ROWS in memory:
        parts.append(memory[ROWS].numpy())
        weights.append(FADE * memory[WEIGHTS].numpy())
    return centres(np.concatenate(parts), rows, 0, _widths(report[0]), np.concatenate(weights))


def _sent(found: FeatureRows, report: State) -> State:
    """The rows of each modality, as experts read them."""
    split = zip(_names(report), apart(found, _widths(report)), strict=True)
    return {f"{COMMON}{name.removeprefix(CENTRES)}": torch.from_numpy(part.copy()) for name, part in split}


def _widths(report: State) -> list[int]:
    return [report[name].shape[1] for name in _names(report)]


def _names(report: State) -> list[str]:
    return sorted(name for name in report if name.startswith(CENTRES))
