"""Tensors for pictures of the feature space, small enough to keep: some test features, prototypes, anchors.

labels [500]      features/<client> [500, D]      prototypes/<client>, prototypes, anchors [C, D]      float16
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from equipoise.core.streams import stream
from equipoise.core.values import ClientUpdate, State
from equipoise.evaluate.predictions import PredictionCache
from equipoise.models.heads import ANCHORS, PROTOTYPES
from equipoise.server.predict import Merged

N_IMAGES = 500


def pictures(predictions: PredictionCache, merged: Merged, clients: Sequence[ClientUpdate]) -> State:
    labels = predictions.labels("test")
    draw = stream(predictions.evaluator.config.seed, "picture-images").permutation(len(labels))[:N_IMAGES]
    some = torch.from_numpy(draw).sort().values
    kept = {f"features/{client.client}": predictions.at("test", client.model).features[some] for client in clients}
    if PROTOTYPES in merged.model:
        kept |= {f"prototypes/{client.client}": client.model[PROTOTYPES] for client in clients}
        kept |= {"prototypes": merged.model[PROTOTYPES], "anchors": merged.model[ANCHORS]}
    return {"labels": labels[some], **{name: tensor.half() for name, tensor in kept.items()}}
