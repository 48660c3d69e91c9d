"""The values of settings that both settings and code need to name."""

from __future__ import annotations

from typing import Literal

Prototypes = Literal["plain", "unit", "counts"]
"""How the server averages prototypes."""
Schedule = Literal["none", "linear", "cosine"]
"""Schedules s(p), by which a quantity decays over the run."""
Anchors = Literal["etf", "random"]
"""What prototypes are aligned to: a simplex, or random directions."""
Aligned = Literal["all", "owned"]
"""Which classes' prototypes are aligned: all, or those that the client has samples of."""
Target = Literal["anchors", "progressive"]
"""What prototypes are pulled towards: the anchors, or a point between their start and the anchors."""
Norm = Literal["batch", "group", "none"]
"""Normalisation after a convolution."""
Fusion = Literal["zero", "identity", "gate", "disconnected"]
"""Where an expert's output matrix O starts, or what takes its place: O = 0 (ours), O = I fixed (the report), and two
failures kept by name: I behind a gate of 0.1, and a learnable gate that nothing reads."""
Weighting = Literal["instance", "none", "temperature", "after-mean"]
"""How surprise acts on the contrast: per sample, not at all, or two failures."""
LossKind = Literal["unmet", "softmax", "sampled", "bpr"]
"""What the next item is compared with: items not met before, the whole catalogue, or items drawn."""
CommonFeatures = Literal["filters", "patches"]
"""The fixed features that clients and the server compute alike: random filters, or patches of photographs."""
ItemScore = Literal["markov", "ridge", "blend"]
"""What ranks items in closed form: the table of transitions, the ridge on windows, or both."""
