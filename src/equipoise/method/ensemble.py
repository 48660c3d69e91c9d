"""Ensembles: the predictions of all clients' models are averaged by samples.

base = cls        align = 0        λ = 0        merge = mean by samples (it goes down, with rounds)
predict = Σ (n_k/n)·softmax(logits_k), or softmax of the mean logits for `logit-ensemble`
"""

from __future__ import annotations

from equipoise.config.blocks import MethodOptions
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method


@METHODS.register("ensemble", aliases=("probability-ensemble",), options=MethodOptions)
def ensemble(options: MethodOptions) -> Method:
    return Method(predict="probability-ensemble")


@METHODS.register("logit-ensemble", options=MethodOptions)
def logits(options: MethodOptions) -> Method:
    return Method(predict="logit-ensemble")
