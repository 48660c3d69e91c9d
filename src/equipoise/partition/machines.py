"""Machines that bring their own data: each machine is a client, and only its own folder has its samples.

    client k = the k-th machine by name        n_kc = what machine k tells about its samples of class c

Nothing is drawn. Before the run is built the machines are asked what they hold, and their answers become part of the
configuration (`told`): a resumed run knows them, and notices data that has changed. The driver has labels to count by,
and no samples. Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.core.options import Options
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels, Samples

WHERE = "partition"


class Told(Options):
    """What a machine tells about its own data."""

    counts: list[int] = Field(description="its samples of each class")
    digest: str = Field(description="hash of its samples and labels")


class MachinesOptions(PartitionOptions):
    name: str = "machines"
    clients: int | None = Field(  # type: ignore[assignment]
        None, ge=1, description="expected number of machines; null: those that are there"
    )
    min_size: int = Field(1, ge=1, description="a machine with fewer samples is refused")
    classes: list[str] = Field([], description="names of the classes; filled in from the driver's own data")
    told: dict[str, Told] = Field({}, description="what each machine told; filled in when they are asked")

    @property
    def ids(self) -> tuple[str, ...]:
        """The machines' names in the order of the clients."""
        return tuple(sorted(self.told))


@SPLITTERS.register("machines", aliases=("own-machines",), options=MachinesOptions, traits=("own-file",))
def machines(labels: Labels, n_classes: int, options: MachinesOptions, rng: np.random.Generator) -> list[Indices]:
    """Each machine's samples, one machine after another."""
    require_told(options)
    sizes = [sum(options.told[name].counts) for name in options.ids]
    if sum(sizes) != len(labels):
        what = f"machines told of {sum(sizes)} samples, and there are {len(labels)} labels"
        raise PartitionError(what, where=WHERE, fix="partition=machines is for engine=flower")
    bounds = np.cumsum([0, *sizes])
    return [np.arange(start, stop) for start, stop in pairwise(bounds)]


def samples_told(options: MachinesOptions, like: Samples) -> Samples:
    """The labels that machines told of, in their order, with inputs that take no memory and hold nothing."""
    require_told(options)
    counts = [options.told[name].counts for name in options.ids]
    labels = np.concatenate([np.repeat(np.arange(len(each)), each) for each in counts]).astype(np.int64)
    nothing = np.zeros(like.inputs.shape[1:], dtype=like.inputs.dtype)
    return Samples(np.broadcast_to(nothing, (len(labels), *nothing.shape)), labels)


def require_told(options: MachinesOptions) -> None:
    if not options.told:
        what = "what each machine holds is known when a run asks them, not before"
        raise PartitionError(what, where=WHERE, fix="equipoise run PRESET partition=machines engine=flower …")


def with_told(options: MachinesOptions, classes: tuple[str, ...], told: Mapping[str, Told]) -> MachinesOptions:
    """The options with what the machines told, checked."""
    if options.clients is not None and options.clients != len(told):
        what = f"partition.clients={options.clients}, and {len(told)} machines have data: {', '.join(sorted(told))}"
        raise PartitionError(what, where=WHERE, fix="start the missing ones, or leave partition.clients out")
    for name, each in told.items():
        if sum(each.counts) < options.min_size:
            what = f"machine {name} has {sum(each.counts)} samples, and partition.min_size={options.min_size}"
            raise PartitionError(what, where=WHERE, fix="lower partition.min_size, or stop that machine")
    return options.model_copy(update={"classes": list(classes), "told": dict(told)})
