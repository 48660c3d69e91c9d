"""What a client writes down: the mean over the checkpoint's steps of every number, under its canonical name."""

from __future__ import annotations

from equipoise.core.values import Losses, Weighed

Numbers = dict[str, float]


def numbers(losses: Losses, weighed: Weighed, norm: float, clip: float | None) -> Numbers:
    """One step's numbers. `grad/clip` is the factor that clipping multiplied the gradient by."""
    step = {
        "loss/base": losses.base.item(),
        **{f"loss/{name}": part.item() for name, part in losses.parts.items()},
        "accuracy/train": losses.hit.item(),
        "grad/norm": norm,
    }
    if clip is not None:
        step["grad/clip"] = min(1.0, clip / norm) if norm > 0 else 1.0
    if losses.align is not None:
        step |= {
            "loss/align": losses.align.item(),
            "lam": weighed.lam,
            "schedule": weighed.schedule,
            "lam/used": weighed.used,
            "scale/base": weighed.scale,
        }
    return step


class Trace:
    """Sums of the steps' numbers; `last` keeps the newest step, for error messages."""

    def __init__(self) -> None:
        self.steps = 0
        self.last: Numbers = {}
        self._sums: Numbers = {}

    def add(self, step: Numbers) -> None:
        self.steps += 1
        self.last = step
        for name, value in step.items():
            self._sums[name] = self._sums.get(name, 0.0) + value

    def means(self) -> Numbers:
        return {name: total / self.steps for name, total in self._sums.items()}
