"""Adds up clients' reports as they come, where reports are sums: no client's is kept.

total ← total + sums(report_k)        in double precision, in the order in which the engine gives results
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from equipoise.core.values import ClientFailure, Result, State, n_bytes
from equipoise.server.admit import objection

SENT = "bytes/report"
"""What a client measured: the bytes of its report, which is not kept."""


Add = Callable[[dict[str, Tensor], State], str | None]
"""Adds a client's sums to the total in place; returns why that cannot be done, or None."""


class Total:
    def __init__(self, sums: Callable[[State], State], like: State, add: Add | None = None) -> None:
        self.sums, self.like, self.add = sums, like, add or added
        self.state: dict[str, Tensor] = {}
        """The sum of all reports so far."""

    def take(self, result: Result) -> Result:
        """The result without its report, which is added to the total; a result that will be refused stays as it is."""
        if isinstance(result, ClientFailure) or objection(result, self.like) is not None:
            return result
        report = result.own.report
        if reason := self.add(self.state, self.sums(report)):
            return ClientFailure(result.client, "report-refused", reason)
        own, measured = replace(result.own, report={}), {**result.metrics, SENT: float(n_bytes(report))}
        return replace(result, own=own, metrics=measured)


def added(total: dict[str, Tensor], sums: State) -> str | None:
    """Add tensors of equal names and shapes."""
    if not total:
        total.update(sums)
        return None
    for name, tensor in total.items():
        if name not in sums or sums[name].shape != tensor.shape:
            got = tuple(sums[name].shape) if name in sums else "nothing"
            return f"{name} of its report is {got}, expected {tuple(tensor.shape)}"
    for name, tensor in total.items():
        tensor.add_(sums[name])
    return None
