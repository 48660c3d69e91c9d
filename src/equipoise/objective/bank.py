"""A client's queue of features, first in, first out: more negatives than one batch holds.

    bank ← the newest M of (z of this step, bank)        z of length 1, detached

Source: He et al., "Momentum Contrast", 2020, for the queue; labels are kept, so a class is never its own negative.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from equipoise.core.values import State
from equipoise.objective.compose import Remember, View


def queue(size: int, name: str) -> Remember:
    """Keep the newest `size` features and labels under `{name}.features` and `{name}.labels`."""

    def remember(view: View) -> State:
        new = {"features": F.normalize(view.features.detach(), dim=1), "labels": view.labels}
        old = {key: view.received[f"{name}.{key}"] for key in new if f"{name}.{key}" in view.received}
        return {f"{name}.{key}": torch.cat([value, old[key]] if old else [value])[:size] for key, value in new.items()}

    return remember
