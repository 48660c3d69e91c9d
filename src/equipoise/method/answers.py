"""A method is five answers.

what is base, what is align      objective
who chooses λ                    balance
how does the server merge        merge
how does the merged thing predict  predict
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from equipoise.balance.none import none

if TYPE_CHECKING:
    from equipoise.balance.policy import Balance
    from equipoise.memory.settings import MemoryOptions
    from equipoise.models.build import Head
    from equipoise.models.look import Summary
    from equipoise.objective.compose import Objective
    from equipoise.server.merge import Merge

ALONE = none()


@cache
def classify() -> Objective:
    """The plain loss: cross-entropy."""
    from equipoise.objective.classify import cross_entropy
    from equipoise.objective.compose import objective

    return objective({"cls": cross_entropy})


def by_samples() -> Merge:
    """The mean of the clients' models, weighted by their samples."""
    from equipoise.server.mean import mean

    return mean


@dataclass(frozen=True)
class Teacher:
    """A model that the server trains on its public pool before the first step, and how many of its features go down.

    They go down once, as `<name>.features` and `<name>.labels`.
    """

    objective: Objective
    epochs: int
    features: int
    name: str


@dataclass(frozen=True)
class Method:
    """The defaults are FedAvg's answers, so a method's file shows only what it changes.

    Method files are read when settings are checked, which takes no torch: they import what does where it is used.
    """

    objective: Objective = field(default_factory=classify)
    """Classification stands for the plain loss of what is learnt: where that is interactions, the next item."""
    balance: Balance | None = ALONE
    """None: any policy, the one that the configuration names."""
    merge: Merge | None = field(default_factory=by_samples)
    """None: the mean, with prototypes merged as `server.merge` says."""
    predict: str | None = "parameter-average"
    """A name of `server/`, unless `server.predict` gives another; None: nothing is merged."""
    sends_down: bool = True
    """Whether the merged model goes back to the clients each round."""
    sends_up: bool = True
    """Whether clients' models go up; if not, what they tell is all the server gets."""
    trains: bool = True
    pools_data: bool = False
    """Whether one client holds everybody's data."""
    head: Head | None = None
    """What turns features into logits; None: a linear layer."""
    report: Summary | None = None
    """What a client reports of its own images when it has trained."""
    teacher: Teacher | None = None
    memory: MemoryOptions | None = None
    """What a recommender's clients remember; None: its experts read the most recent items."""
    prototypes: int = 0
    """Centres of its memory that a client tells the server."""
    negatives: int = 0
    """Items that a recommender's client draws to compare with; 0: it compares with the whole catalogue."""
    stacks: bool = False
    """Whether an objective of its own can be mapped over clients: torch.vmap takes it, what fills up a batch has no
    share in it, and it remembers nothing."""

    @property
    def maps(self) -> bool:
        """Whether clients may train along one axis."""
        return self.stacks or self.objective is classify()

    @property
    def headline(self) -> str:
        """What a table of images shows: the merged model's accuracy, or the clients' mean if nothing is merged."""
        return "accuracy/merged" if self.predict is not None else "accuracy/clients"
