"""The door: an update is checked for names, shapes, types and finiteness before it is merged."""

from __future__ import annotations

from equipoise.core.values import ClientUpdate, State


def objection(update: ClientUpdate, like: State) -> str | None:
    """Why this update cannot be merged into a model like that, or None."""
    if update.model.keys() != like.keys():
        missing, extra = sorted(like.keys() - update.model.keys()), sorted(update.model.keys() - like.keys())
        return f"its tensors are not the model's: missing {missing[:3]}, unexpected {extra[:3]}"
    if update.samples < 1:
        return f"it reports {update.samples} samples"
    for name, tensor in update.model.items():
        if tensor.shape != like[name].shape or tensor.dtype != like[name].dtype:
            have, want = f"{tensor.dtype} {tuple(tensor.shape)}", f"{like[name].dtype} {tuple(like[name].shape)}"
            return f"{name} is {have}, expected {want}"
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            return f"{name} has values that are not finite"
    return None
