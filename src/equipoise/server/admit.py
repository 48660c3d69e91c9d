"""Checks an update before it is merged: names, shapes, types, rows, finiteness."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite

import torch
from torch import Tensor

from equipoise.core.values import ClientUpdate, State
from equipoise.server.mean import AT_ONCE


def objections(updates: Sequence[ClientUpdate], like: State) -> list[str | None]:
    """The objection to each update; small tensors of many clients are checked together."""
    partial = {name for update in updates for name in update.rows}
    whole = [name for name in like if name not in partial]
    checked = [name for name in whole if _fit([update.model.get(name) for update in updates], like[name])]
    return [objection(update, like, checked) for update in updates]


def objection(update: ClientUpdate, like: State, checked: Collection[str] = ()) -> str | None:
    """Why this update cannot be merged into a model like that, or None. Tensors in `checked` are known to be right."""
    if update.model.keys() != like.keys():
        missing, extra = sorted(like.keys() - update.model.keys()), sorted(update.model.keys() - like.keys())
        return f"its tensors are not the model's: missing {missing[:3]}, unexpected {extra[:3]}"
    if update.samples < 1:
        return f"it reports {update.samples} samples"
    for name in (name for name in update.model if name not in checked):
        tensor = update.model[name]
        shape = like[name].shape
        if name in update.rows:
            rows = update.rows[name]
            if not _are_rows(rows, shape[0]):
                return f"the rows of {name} are not different whole numbers from 0 to {shape[0] - 1}"
            shape = torch.Size((len(rows), *shape[1:]))
        if tensor.shape != shape or tensor.dtype != like[name].dtype:
            have, want = f"{tensor.dtype} {tuple(tensor.shape)}", f"{like[name].dtype} {tuple(shape)}"
            return f"{name} is {have}, expected {want}"
        if tensor.is_floating_point() and not _is_finite(tensor):
            return f"{name} has values that are not finite"
    return _objection_to_report(update.own.report)


def _objection_to_report(report: State) -> str | None:
    bad = [name for name, tensor in report.items() if tensor.is_floating_point() and not _is_finite(tensor)]
    return f"{bad[0]} of its report has values that are not finite" if bad else None


def _fit(tensors: Sequence[Tensor | None], like: Tensor) -> bool:
    """Whether tensors are known to be like that one, with finite sums; False also where they are large."""
    size = AT_ONCE // max(1, like.numel())
    if size < 2 or not like.is_floating_point():
        return False
    there = [tensor for tensor in tensors if tensor is not None and tensor.shape == like.shape]
    if len(there) < len(tensors) or any(tensor.dtype != like.dtype for tensor in there):
        return False
    parts = (there[start : start + size] for start in range(0, len(there), size))
    return all(isfinite(torch.stack(part).sum().item()) for part in parts)


def _is_finite(tensor: Tensor) -> bool:
    """Checks the sum first, which is ten times faster: a finite sum has finite terms only. A sum that is not finite
    may also have overflowed, so then every element is checked."""
    return isfinite(tensor.sum().item()) or bool(tensor.isfinite().all())


def _are_rows(rows: Tensor, n_rows: int) -> bool:
    if rows.dtype != torch.int64 or rows.ndim != 1:
        return False
    listed = rows.tolist()
    return len(set(listed)) == len(listed) and all(0 <= row < n_rows for row in listed)
