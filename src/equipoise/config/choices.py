"""The words that settings choose among, where settings and code both have to name them."""

from __future__ import annotations

from typing import Literal

Prototypes = Literal["plain", "unit", "counts"]
"""How the server averages prototypes."""
Schedule = Literal["none", "linear", "cosine"]
"""s(p), by which something fades over the run."""
Anchors = Literal["etf", "random"]
"""What prototypes are aligned to: a simplex, or random directions."""
Aligned = Literal["all", "owned"]
"""Which classes' prototypes are aligned: all, or those that the client has images of."""
Target = Literal["anchors", "progressive"]
"""Where prototypes are drawn to: the anchors, or a point on the way from their start to the anchors."""
Norm = Literal["batch", "group", "none"]
"""Normalisation after a convolution."""
Fusion = Literal["zero", "identity", "gate", "disconnected"]
"""Where an expert's output matrix O starts, or what takes its place: O = 0 (ours), O = I fixed (the report), and two
failures kept by name: I behind a gate of 0.1, and a learnable gate that nothing reads."""
Weighting = Literal["instance", "none", "temperature", "after-mean"]
"""How surprise acts on the contrast: per sample, not at all, or two failures."""
LossKind = Literal["unmet", "softmax", "sampled", "bpr"]
"""What the next item is compared with: items not met before, the whole catalogue, or items drawn."""
