"""Measures the encoders independently of the merge: a ridge head on all of them, fitted on training samples.

    x = [f_1/‖f_1‖, …, f_K/‖f_K‖]        accuracy/probe = accuracy of argmax x·W on test, W as in `server/ridge`

The evaluator fits it with data that no server has. If a merge scores far below its probe, the merge is at fault, not
the clients.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.values import State
from equipoise.evaluate.accuracy import accuracy
from equipoise.evaluate.predictions import PredictionCache
from equipoise.server.ridge import applied, concatenated, solved, sums


def probe(predictions: PredictionCache, states: Sequence[State]) -> float:
    train, test = ([predictions.at(split, state).features for state in states] for split in ("train", "test"))
    head = solved([sums(concatenated(train), predictions.labels("train"), len(predictions.evaluator.splits.classes))])
    return accuracy(applied(head, concatenated(test)), predictions.labels("test"))
