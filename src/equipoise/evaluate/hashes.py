"""Hashes of states, to see whether two states are equal to the last bit.

    hash/start, hash/end            one-shot: what a client began with, and what it ended with
    hash/frozen/start, hash/frozen  stages: what is not trained, before and after
    hash/buffers                    models with running statistics: the clients', and the merged one's

CRC-32 of names and bytes: it fits into a double and costs a millisecond per megabyte. It need not resist forgery.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence

import torch

from equipoise.core.values import ClientUpdate, State, Task
from equipoise.evaluate.score import Scores

STATISTICS = ("running_mean", "running_var")


def fingerprint(state: State) -> float:
    code = 0
    for name in sorted(state):
        code = zlib.crc32(name.encode(), code)
        code = zlib.crc32(state[name].contiguous().reshape(-1).view(torch.uint8).numpy().data, code)
    return float(code)


def hashes(
    tasks: Sequence[Task], updates: Sequence[ClientUpdate], moving: Collection[str] | None, carries: bool, merged: State
) -> Scores:
    """Hashes of every client that sent an update; `moving` None: everything is trained."""
    given = {task.client: {**task.shared, **task.own.model} for task in tasks}
    scores: Scores = {}
    for update in updates:
        before = {name: given[update.client][name] for name in update.model if name not in update.rows}
        after = {name: update.model[name] for name in before}
        if carries:
            scores[update.client, "hash/start"] = fingerprint(before)
            scores[update.client, "hash/end"] = fingerprint(after)
        if moving is not None:
            scores[update.client, "hash/frozen/start"] = fingerprint(_less(before, moving))
            scores[update.client, "hash/frozen"] = fingerprint(_less(after, moving))
        if buffers := _buffers(after):
            scores[update.client, "hash/buffers"] = fingerprint(buffers)
    if buffers := _buffers(merged):
        scores[None, "hash/buffers"] = fingerprint(buffers)
    return scores


def _less(state: State, moving: Collection[str]) -> State:
    return {name: tensor for name, tensor in state.items() if name not in moving}


def _buffers(state: State) -> State:
    return {name: tensor for name, tensor in state.items() if name.endswith(STATISTICS)}
