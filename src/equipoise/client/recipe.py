"""What all clients of a run share: the network, the objective, the λ policy, and how their data becomes steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Size, Tensor, nn

from equipoise.balance.policy import Balance
from equipoise.balance.schedule import schedule
from equipoise.client.feed import Feed, Work
from equipoise.client.finished import Report
from equipoise.client.groups import Groups, Phase
from equipoise.config.blocks import ClientOptions
from equipoise.config.schema import Config
from equipoise.core.arithmetic import compiled, in_precision
from equipoise.core.device import Device, device_of
from equipoise.core.draws import drawn_on_cpu
from equipoise.core.values import Task
from equipoise.objective.compose import Objective


@dataclass(frozen=True)
class Recipe:
    """The network is moved to the device on which clients train."""

    config: Config
    model: nn.Module
    objective: Objective
    balance: Balance
    work: Work
    feed: Callable[[Task], Feed]
    """(task) → the client's own data for it."""
    keeps_buffers: bool = True
    """Whether a client's next task continues with its optimiser buffers."""
    report: Report | None = None
    """What a client sends beside its model."""
    keep: Report | None = None
    """What a client keeps for its next task, beside what its data remembers."""
    phases: Sequence[Phase] = ()
    """Which groups are trained in which epochs of a task."""
    personal: frozenset[str] = frozenset()
    """Weights that must not leave the client."""
    compiled_sizes: set[tuple[Size, ...]] = field(default_factory=set)
    """The sizes of batches for which the network was compiled."""

    def __post_init__(self) -> None:
        self.model.to(self.device.torch_device)

    @cached_property
    def device(self) -> Device:
        """Where clients train."""
        return device_of(self.config.engine.device)

    def options_at(self, epoch: int) -> ClientOptions:
        """The client settings with the epoch's learning rate, the same for all clients."""
        options = self.config.client
        factor = schedule(options.schedule, self.work.clock.progress(epoch, 0.0))
        return options if factor == 1.0 else options.model_copy(update={"lr": options.lr * factor})

    def is_compiling(self, batch: Any) -> bool:
        """Whether a step on that batch compiles the network: the first one of its size."""
        if not self.config.engine.compile:
            return False
        sizes = tuple(part.shape for part in batch if isinstance(part, Tensor))
        is_new = sizes not in self.compiled_sizes
        self.compiled_sizes.add(sizes)
        return is_new

    @cached_property
    def alone(self) -> Callable[..., Any]:
        """The network of a client that trains alone, compiled if that was asked for."""
        return compiled(self.model) if self.config.engine.compile else self.model

    def forward(self, network: Callable[..., Any]) -> Callable[..., Any]:
        """The network's forward pass in the precision that was asked for, with results in single precision."""
        noisy = drawn_on_cpu(network, self.model, self.device)
        return in_precision(noisy, self.device, self.config.engine.precision)

    @property
    def groups(self) -> Groups:
        """Parameters that are merged, frozen or staged together, as the model declares them."""
        return self.model.groups  # type: ignore[return-value]
