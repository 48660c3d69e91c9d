"""Sums over histories that add up over users and are sparse: what a user sends so that the server can rank items.

    n_ij = Σ_t Σ_{g=1..gaps} [h_t = i and h_{t+g} = j] / g
    x_t  = Σ_{p=1..window} decay^{p−1}·e(h_{t−p})        y_t = e(h_t)
    G    = Σ_t x_t x_tᵀ        S = Σ_t x_t y_tᵀ          t = every item of the training part but the first
    sent: the places i·V + j and the values of n (in whole multiples of 1/lcm(1 … gaps)), of G for i ≤ j, and of S

A history of n items has at most n·(gaps + 2·window) such entries, whatever V is. Two positions a ≤ b of a history meet
in the windows of m = min(window − (b − a), n − 1 − b) targets, so G needs no sum over targets:

    G gets  decay^{b−a}·Σ_{k<m} decay^{2k}  at (h_a, h_b)
Counts are whole numbers, so n does not depend on the order of users; G and S do in their last bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equipoise.core.values import Floats, Indices, State
from equipoise.server.item_settings import ItemSumsOptions

Entries = tuple[Indices, NDArray[np.float64]]
"""Places i·V + j, and values; a place may occur several times."""
AT, VALUE = ".at", ".value"
"""Ends of the names of an entry's tensors."""


def unit(gaps: int) -> int:
    """A multiple of every gap, in whose parts transitions are counted."""
    return lcm(*range(1, gaps + 1))


def sums_of(histories: Sequence[Indices], n_items: int, options: ItemSumsOptions) -> State:
    """What the owner of these histories sends: those sums that the options' tables need."""
    found: dict[str, Tensor] = {"items": torch.tensor([n_items])}
    if "markov" in options.tables:
        found |= _sent("transitions", [transitions(h, n_items, options.gaps) for h in histories], np.int32, n_items)
    if "ridge" in options.tables:
        window, decay = options.window, options.decay
        found |= _sent("gram", [gram(h, n_items, window, decay) for h in histories], np.float32, n_items)
        found |= _sent("next", [following(h, n_items, window, decay) for h in histories], np.float32, n_items)
    return found


def transitions(items: Indices, n_items: int, gaps: int) -> Entries:
    """n in whole multiples of 1/unit."""
    weights = [unit(gaps) / gap for gap in range(1, gaps + 1)]
    return _paired(items, n_items, weights)


def following(items: Indices, n_items: int, window: int, decay: float) -> Entries:
    """S."""
    return _paired(items, n_items, [decay ** (p - 1) for p in range(1, window + 1)])


def gram(items: Indices, n_items: int, window: int, decay: float) -> Entries:
    """G for i ≤ j; two positions of one item meet twice on the diagonal."""
    n, places, values = len(items), [np.empty(0, np.int64)], [np.empty(0)]
    geometric = np.concatenate([[0.0], np.cumsum(decay ** (2.0 * np.arange(window)))])
    for lag in range(min(window, n - 1)):
        a, b = items[: n - 1 - lag], items[lag : n - 1]
        meetings = np.minimum(window - lag, n - 1 - np.arange(lag, n - 1))
        weight = decay**lag * geometric[meetings]
        places.append(np.minimum(a, b) * n_items + np.maximum(a, b))
        values.append(np.where((a == b) & (lag > 0), 2 * weight, weight))
    return np.concatenate(places), np.concatenate(values)


def _paired(items: Indices, n_items: int, weights: Sequence[float]) -> Entries:
    """Each item with those after it, weighted by their distance, which is 1 for the first weight."""
    places, values = [np.empty(0, np.int64)], [np.empty(0)]
    for distance, weight in enumerate(weights, start=1):
        places.append(items[:-distance] * n_items + items[distance:])
        values.append(np.full(len(places[-1]), weight))
    return np.concatenate(places), np.concatenate(values)


def _sent(name: str, entries: Sequence[Entries], dtype: type[np.generic], n_items: int) -> State:
    """Entries with equal places added up."""
    places: Indices = np.concatenate([at for at, _ in entries])
    values: Floats = np.concatenate([value for _, value in entries])
    at, where = np.unique(places, return_inverse=True)
    summed = np.bincount(where, weights=values, minlength=len(at)).astype(dtype)
    short = np.int32 if n_items**2 <= np.iinfo(np.int32).max else np.int64
    return {name + AT: torch.from_numpy(at.astype(short)), name + VALUE: torch.from_numpy(summed)}


def add(total: dict[str, Tensor], report: State) -> str | None:
    """Add what a client sent to a dense total [V·V] in double precision; or why that cannot be done."""
    names = [name.removesuffix(AT) for name in report if name.endswith(AT)]
    if reason := _objection(total, report, names):
        return reason
    n_items = int(report["items"].item())
    total.setdefault("items", report["items"].clone())
    for name in names:
        if name not in total:
            total[name] = torch.zeros(n_items**2, dtype=torch.float64)
        total[name].index_add_(0, report[name + AT].long(), report[name + VALUE].double())
    return None


def _objection(total: State, report: State, names: Sequence[str]) -> str | None:
    if "items" not in report or not names:
        return "its report does not say how many items there are, or has no sums"
    n_items = int(report["items"].item())
    if total and n_items != int(total["items"].item()):
        return f"its report is of {n_items} items, expected {int(total['items'].item())}"
    if total and {"items", *names} != total.keys():
        return (
            f"its report has sums of {', '.join(sorted(names))}, expected {', '.join(sorted(total.keys() - {'items'}))}"
        )
    for name in names:
        at, value = report[name + AT], report.get(name + VALUE)
        if value is None or at.shape != value.shape:
            return f"{name} of its report has {len(at)} places and {'no' if value is None else len(value)} values"
        if len(at) and (at.min() < 0 or at.max() >= n_items**2):
            return f"{name} of its report has places outside {n_items} × {n_items} pairs of items"
    return None
