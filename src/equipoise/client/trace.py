"""What a client writes down: the mean over the checkpoint's steps of every number, under its canonical name."""

from __future__ import annotations

from equipoise.core.values import Losses, Weighed

Numbers = dict[str, float]
LAST = ("lam", "schedule", "lam/used", "scale/base")


def numbers(losses: Losses, weighed: Weighed, norm: float, factor: float) -> Numbers:
    """One step's numbers. `grad/clip` is the factor that clipping multiplied the gradient by."""
    step = {
        "loss/base": losses.base.item(),
        **{f"loss/{name}": part.item() for name, part in losses.parts.items()},
        "accuracy/train": losses.hit.item(),
        "grad/norm": norm,
        "grad/clip": factor,
        **{name: value.item() for name, value in losses.measured.items()},
    }
    if losses.align is not None:
        step |= {
            "loss/align": losses.align.item(),
            "lam": weighed.lam,
            "schedule": weighed.schedule,
            "lam/used": weighed.used,
            "scale/base": weighed.scale,
            **weighed.seen,
        }
    return step


class Trace:
    """Sums of the steps' numbers; `last` keeps the newest step, for error messages."""

    def __init__(self) -> None:
        self.steps = 0
        self.last: Numbers = {}
        self._sums: Numbers = {}
        self._counts: dict[str, int] = {}

    def add(self, step: Numbers) -> None:
        self.steps += 1
        self.last = step
        for name, value in step.items():
            self._sums[name] = self._sums.get(name, 0.0) + value
            self._counts[name] = self._counts.get(name, 0) + 1

    def means(self) -> Numbers:
        """Of the steps that had the number; of the λ policy's numbers the last step as well, as `…/last`."""
        means = {name: total / self._counts[name] for name, total in self._sums.items()}
        return means | {f"{name}/last": self.last[name] for name in LAST if name in self.last}
