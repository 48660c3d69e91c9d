"""A method is five answers.

what is base, what is align      objective
who chooses λ                    balance
how does the server merge        merge
how does the merged thing predict  predict

A sixth part, the exchange, says what travels between server and clients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from equipoise.balance.none import none
from equipoise.client.groups import Phase

if TYPE_CHECKING:
    from torch import nn

    from equipoise.balance.policy import Balance
    from equipoise.client.finished import Report
    from equipoise.core.values import State
    from equipoise.models.build import Head
    from equipoise.models.classifier import Classifier
    from equipoise.objective.compose import Objective
    from equipoise.server.merge import Merge
    from equipoise.server.total import Add

NO_LAMBDA = none()


class Chosen(Enum):
    """Stands for an answer that the method leaves to others."""

    BY_CONFIGURATION = "by the configuration"
    BY_KIND = "by the kind of data"


BY_CONFIGURATION: Literal[Chosen.BY_CONFIGURATION] = Chosen.BY_CONFIGURATION
BY_KIND: Literal[Chosen.BY_KIND] = Chosen.BY_KIND


def by_samples() -> Merge:
    """The mean of the clients' models, weighted by their samples."""
    from equipoise.server.mean import mean

    return mean


def nobody(model: nn.Module) -> Collection[str]:
    """No weight stays with its client."""
    return ()


@dataclass(frozen=True)
class Exchange:
    """What travels between server and clients."""

    down: bool = True
    """The merged model goes back to the clients each round."""
    up: bool = True
    """Clients' models go to the server; otherwise it gets reports only."""
    report: Report | None = None
    """What a client sends beside its model, computed from its finished task."""
    sums: Callable[[State], State] | None = None
    """(report) → sums over the client's samples, where reports add up: the server adds them to a total as they come,
    the merge finds the total in its state, and no report is kept."""
    add: Add | None = None
    """(total so far, sums) → why they cannot be added, or None: how sums are added; None: tensor by tensor."""
    keep: Report | None = None
    """What a client keeps for its next task, computed from its finished task."""
    begin: Callable[[State], State] | None = None
    """What a client holds before its first task, computed from the model that the server sent."""
    personal: Callable[[nn.Module], Collection[str]] = nobody
    """Weights and buffers of the model that stay with their client, beside the groups of `server.personal`."""


@dataclass(frozen=True)
class Teacher:
    """A model that the server trains on its public pool before the first step, and how many of its features it sends.

    They go down once, as `<name>.features` and `<name>.labels`.
    """

    objective: Objective
    epochs: int
    features: int
    name: str


@dataclass(frozen=True)
class Method:
    """The defaults are FedAvg's answers, so a method's file shows only what it changes.

    Settings are checked without torch, and import method files: these import code that needs torch where it is used.
    """

    objective: Objective | Literal[Chosen.BY_KIND] = BY_KIND
    """Left to the kind of data: its plain loss."""
    balance: Balance | Literal[Chosen.BY_CONFIGURATION] = NO_LAMBDA
    """Left to the configuration: the policy that the balance block names."""
    merge: Merge | Literal[Chosen.BY_CONFIGURATION] = field(default_factory=by_samples)
    """Left to the configuration: the mean, with prototypes merged as `server.merge` says."""
    predict: str | None = "parameter-average"
    """A name of `server/`, unless `server.predict` gives another; None: clients' own models are the result."""
    exchange: Exchange = Exchange()
    trains: bool = True
    pools_data: bool = False
    """Whether one client holds everybody's data."""
    head: Head | None = None
    """What turns features into logits; None: a linear layer."""
    network: Callable[[Classifier], Classifier] | None = None
    """(network) → the module to train in place of the configured network."""
    phases: tuple[Phase, ...] = ()
    """Which groups are trained in which epochs of a round; empty: all groups in all epochs."""
    teacher: Teacher | None = None
    for_kind: Any = None
    """Settings for one kind of data only; its site reads them."""
    stacks: bool = False
    """Whether the method's own objective can be mapped over clients: it works under torch.vmap, ignores the padding of
    a batch, and remembers nothing from step to step."""


@dataclass(frozen=True, kw_only=True)
class Resolved(Method):
    """A method without open answers."""

    objective: Objective
    balance: Balance
    merge: Merge
    carries: bool = False
    """Whether clients continue from their own models, because nothing is sent down."""

    @property
    def headline(self) -> str:
        """The metric that tables show for labelled samples: the merged model's accuracy, or the clients' mean."""
        return "accuracy/merged" if self.predict is not None else "accuracy/clients"
