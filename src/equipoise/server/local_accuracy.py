"""A model's accuracy on the samples that a client holds out as its local test set.

share = mean_i [argmax logits_i = y_i]
"""

from __future__ import annotations

import torch

from equipoise.client.own import OwnSamples
from equipoise.core.values import Question, State
from equipoise.models.outputs import outputs_of

OF_OWN = Question("local-accuracy", through="own")
OF_MERGED = Question("local-accuracy", through="merged")


def local_accuracy(own: OwnSamples) -> State:
    """Empty for a client that holds out no samples."""
    if own.held_out is None or len(own.held_out) == 0:
        return {}
    own.reader.device.load(own.network, own.models[0])
    answers = outputs_of(own.network, own.held_out.inputs, own.reader).logits.argmax(1)
    return {"share": (answers == torch.tensor(own.held_out.labels)).double().mean()}
