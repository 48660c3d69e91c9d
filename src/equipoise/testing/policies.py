"""What every λ policy promises."""

from __future__ import annotations

import numpy as np
import torch

from equipoise.balance.policy import Balance
from equipoise.core.registry import BALANCES
from equipoise.testing.methods import config_of, order_does_not_matter, resuming_changes_nothing, steps_of

LABELS = ([1, 0, 0], [3, 3, 3], [0, 0, 9])


def check_policy(name: str, *overrides: str) -> None:
    """Check all promises with the method `etf-align`; `overrides` are settings that the policy needs."""
    starts_from_counts_alone(name)
    for communication in ("rounds", "one-shot"):
        run = steps_of(config_of("etf-align", communication, f"balance={name}", *overrides))
        order_does_not_matter(run)
        resuming_changes_nothing(run)
        for row in (row for record in run.records for row in record.rows if row.client is not None):
            if row.name in {"lam", "lam/used"}:
                assert row.value >= 0, f"{row.name} of client {row.client} is {row.value}: λ is never below zero"
            if row.name == "scale/base":
                assert row.value > 0, f"client {row.client} multiplies its base loss by {row.value}"


def starts_from_counts_alone(name: str) -> None:
    """A policy needs only the label counts to start, and starts finite."""
    entry = BALANCES.find(name)
    balance = entry.make(entry.options())
    assert isinstance(balance, Balance), f"balance '{name}' gives no Balance, but {balance!r}"
    for counts in LABELS:
        for key, value in balance.start(np.array(counts)).items():
            assert bool(torch.isfinite(value).all()), f"'{key}' starts as {value} for label counts {counts}"
