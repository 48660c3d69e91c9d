"""The merged model with BatchNorm statistics that clients measured anew, instead of the average of their own.

softmax(logits of the recalibrated merged model)        a second exchange: the model goes down, statistics come up
"""

from __future__ import annotations

from torch import Tensor

from equipoise.core.registry import PREDICTS
from equipoise.server.predict import NEEDS_BATCH_NORM, Merged, Scene


@PREDICTS.register("recalibrated-average", traits=[NEEDS_BATCH_NORM])
def recalibrated_average(scene: Scene, merged: Merged) -> Tensor:
    return scene.asked(scene.recalibrated(merged.model)).logits.softmax(1)
