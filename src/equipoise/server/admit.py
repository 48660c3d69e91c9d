"""Checks an update before it is merged: names, shapes, types, rows, finiteness."""

from __future__ import annotations

from math import isfinite

import torch

from equipoise.core.values import ClientUpdate, State


def objection(update: ClientUpdate, like: State) -> str | None:
    """Why this update cannot be merged into a model like that, or None."""
    if update.model.keys() != like.keys():
        missing, extra = sorted(like.keys() - update.model.keys()), sorted(update.model.keys() - like.keys())
        return f"its tensors are not the model's: missing {missing[:3]}, unexpected {extra[:3]}"
    if update.samples < 1:
        return f"it reports {update.samples} samples"
    for name, tensor in update.model.items():
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


def _is_finite(tensor: torch.Tensor) -> bool:
    """Checks the sum first, which is ten times faster: a finite sum has finite terms only. A sum that is not finite
    may also have overflowed, so then every element is checked."""
    return isfinite(tensor.sum().item()) or bool(tensor.isfinite().all())


def _are_rows(rows: torch.Tensor, n_rows: int) -> bool:
    if rows.dtype != torch.int64 or rows.ndim != 1:
        return False
    listed = rows.tolist()
    return len(set(listed)) == len(listed) and all(0 <= row < n_rows for row in listed)
