"""The values that travel between rooms: small, frozen, without behaviour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from equipoise.core.numbers import Number

State = Mapping[str, "Tensor"]
"""Named tensors: weights and buffers of a model, or the buffers of an optimiser."""


def n_bytes(state: State) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in state.values())


Pixels = NDArray[np.uint8]
Labels = NDArray[np.int64]
Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Channels = tuple[float, ...]
"""One number per channel of an image, or one for all."""


@dataclass(frozen=True)
class Images:
    """Labelled images: uint8 [N, channels, height, width] and int64 [N]."""

    pixels: Pixels
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: Indices) -> Images:
        return Images(self.pixels[index], self.labels[index])


@dataclass(frozen=True)
class Samples:
    """Labelled samples as they are stored: inputs [N, …] and labels int64 [N]."""

    inputs: NDArray[Any]
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: Indices) -> Samples:
        return Samples(self.inputs[index], self.labels[index])


@dataclass(frozen=True)
class Dataset:
    """A named image set with the constants that normalise it: `mean` and `std` of [0, 1] pixels."""

    name: str
    train: Images
    test: Images
    classes: tuple[str, ...]
    mean: Channels
    std: Channels


@dataclass(frozen=True)
class ClientState:
    """What a client keeps between its tasks, or a handle to the state that its node keeps.

    model: its own, where nothing is sent down; optimiser: buffers; policy: parameters of the λ policy;
    memory: what its objective remembers; report: its last report about its own samples.
    """

    model: State = field(default_factory=dict)
    optimiser: State = field(default_factory=dict)
    policy: State = field(default_factory=dict)
    memory: State = field(default_factory=dict)
    report: State = field(default_factory=dict)
    handle: str = ""
    """Names the part of the state that the client's node keeps; empty: the whole state is here."""

    def groups(self) -> dict[str, State]:
        return {name: getattr(self, name) for name in GROUPS}

    @classmethod
    def of(cls, groups: Mapping[str, State], handle: str = "") -> ClientState:
        """Build a state from its groups; missing groups are empty."""
        model, optimiser, policy, memory, report = (groups.get(name, {}) for name in GROUPS)
        return cls(model, optimiser, policy, memory, report, handle)


GROUPS = tuple(group.name for group in fields(ClientState) if group.name != "handle")
"""The groups of tensors in a client's state."""


@dataclass(frozen=True)
class Question:
    """A question that the server asks clients about their own samples: the name of a summary of model outputs on them.

    through: each client's own model, all clients' models, the merged one, the untrained common encoder, or the data
    alone, which every client of the federation is asked about.
    """

    summary: str
    through: Literal["own", "all", "merged", "common", "data"]


@dataclass(frozen=True)
class Task:
    """One client's work between two checkpoints: training, or an answer. There is no field for test data."""

    step: int
    client: int
    epochs: range
    shared: State
    own: ClientState = field(default_factory=ClientState)
    question: Question | None = None
    """To answer instead of training; `shared` then holds the models that the question needs."""


@dataclass(frozen=True)
class Losses:
    """L_b, L_a (None where there is none), the named parts of L_b, and the share of the batch classified right.

    When several clients train together, every tensor has a leading client axis.
    """

    base: Tensor
    align: Tensor | None
    parts: Mapping[str, Tensor]
    hit: Tensor
    memory: State = field(default_factory=dict)
    """What the objective needs again at the client's next step."""
    measured: Mapping[str, Tensor] = field(default_factory=dict)
    """Further numbers to record."""


@dataclass(frozen=True)
class Moment:
    """p ∈ [0, 1), the progress of the whole run; the client's samples of each class; the epoch of the whole run.

    An objective gets the counts as a tensor on its device; where it is mapped over clients, progress is one, too.
    """

    progress: float
    counts: Labels
    epoch: int = 0


@dataclass(frozen=True)
class Weighed:
    """A λ policy's result: the network's loss, the policy's own loss, and the numbers it used.

    lam: λ before the schedule; schedule: s; used: multiplier of ∇L_a over multiplier of ∇L_b; scale: that of ∇L_b;
    seen: further numbers to record; remembered: what a policy that does not learn keeps for its next step.
    Numbers are floats, or tensors of one number: a policy that calls `float` makes the host wait for the device.
    """

    network: Tensor
    policy: Tensor | None
    lam: Number
    schedule: Number = 1.0
    used: Number = 0.0
    scale: Number = 1.0
    seen: Mapping[str, Number] = field(default_factory=dict)
    remembered: State = field(default_factory=dict)


@dataclass(frozen=True)
class ClientUpdate:
    """What a client sends up: its model, its sample counts, what it measured; and what it keeps for itself."""

    client: int
    samples: int
    model: State
    own: ClientState
    metrics: Mapping[str, float]
    counts: Sequence[int] = ()
    """Samples of each class, for merges that are weighted by them."""
    rows: State = field(default_factory=dict)
    """For tensors that are sent in part: the row numbers in the whole tensor."""


@dataclass(frozen=True)
class ClientFailure:
    """A client that gave no update this time, and why; the federation goes on without it."""

    client: int
    kind: str
    error: str


Result = ClientUpdate | ClientFailure


@dataclass(frozen=True)
class Event:
    """Something that happened beside the numbers: a failure, a fallback, a decision."""

    kind: str
    message: str
    step: int | None = None
    client: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One recorded number. `client` is None for the server; `round` is None where nothing is sent back (one-shot)."""

    step: int
    round: int | None
    client: int | None
    name: str
    value: float
