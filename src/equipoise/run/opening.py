"""Predicts before the first step where a learned λ will end, from the losses of a first batch."""

from __future__ import annotations

from dataclasses import replace

from equipoise.balance.entropy import EntropyOptions
from equipoise.config.traits import LABELS
from equipoise.core.values import ClientUpdate, Event
from equipoise.engine.engine import Engine
from equipoise.engine.node import FIRST_LOSSES
from equipoise.run.advance import plan
from equipoise.run.build import Federation
from equipoise.run.state import Snapshot


def opening(federation: Federation, engine: Engine, snapshot: Snapshot) -> list[Event]:
    """Events: the cap of a learned λ policy, as a formula with numbers; that `entropy` has no labels in a history."""
    balance, config = federation.method.balance, federation.config
    if isinstance(config.balance, EntropyOptions) and LABELS not in config.kind.offers:
        text = f"entropy: a history has no classes, so every client has λmin = {config.balance.lam_min:g}"
        return [Event("lambda-constant", text)]
    if balance.cap is None:
        return []
    task = replace(plan(federation, snapshot, 0)[0], question=FIRST_LOSSES)
    (answer,) = engine.map([task])
    assert isinstance(answer, ClientUpdate)
    assert "align" in answer.own.report, "a policy with a cap weighs an alignment term"
    base, align = answer.own.report["base"].item(), answer.own.report["align"].item()
    cap = balance.cap(base, align)
    name, lam_max = config.balance.name, getattr(config.balance, "lam_max", None)
    text = f"{name}: {cap.formula} (client {task.client}, first batch: L_b {base:.4g}, L_a {align:.4g})"
    return [Event("lambda-cap", text, detail={"cap": cap.value, "lam_max": lam_max, "base": base, "align": align})]
