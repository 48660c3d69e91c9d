"""Give every client its images: the partition, what each holds out for its own test, and the scenario.

    splits → partition → local test out of each client's images → scenario on each client's images

Validation, test and the public pool stay as they are. A scenario's shift changes a client's local test images as well,
its label noise does not. What was changed is recorded as one event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.config.blocks import PartitionOptions
from equipoise.config.schema import Config
from equipoise.core.errors import PartitionError
from equipoise.core.streams import stream
from equipoise.core.values import Event, Indices, Samples
from equipoise.data.scenario import concerned, drawn_shift, noisy_labels
from equipoise.data.splits import SampleNumbers, Splits
from equipoise.partition.divide import Partition, certified, divide
from equipoise.partition.file import FileOptions, read_split
from equipoise.partition.local_test import local_tests
from equipoise.partition.machines import MachinesOptions, samples_told


class Allotment(NamedTuple):
    """Who has what."""

    splits: Splits
    """With the training images as their clients have them."""
    partition: Partition
    indices: Sequence[Indices]
    """What each client trains on."""
    local: Sequence[Indices]
    """What each client holds out for its own test, among the training images; empty without data.local_test."""
    notes: tuple[Event, ...]


def allot(config: Config, splits: Splits, folder: Path | None) -> Allotment:
    if isinstance(config.partition, MachinesOptions):
        splits = replace(splits, train=samples_told(config.partition, splits.train), origin=None)
    partition = partition_of(config.partition, splits, config.seed, folder)
    splits = replace(splits, content=splits.content + partition.source)
    indices, local = local_tests(partition, getattr(config.data, "local_test", 0.0), config.seed)
    staged, notes = with_scenario(config, splits, partition, (indices, local))
    return Allotment(staged, partition, indices, local, notes)


def partition_of(options: PartitionOptions, splits: Splits, seed: int, folder: Path | None) -> Partition:
    """The partition of what is left of a training set; a split file is of the whole set."""
    labels, n_classes = splits.train.labels, len(splits.classes)
    if isinstance(options, MachinesOptions):
        return replace(divide(labels, n_classes, options, seed), ids=options.ids)
    if not isinstance(options, FileOptions):
        return divide(labels, n_classes, options, seed)
    origin = origin_of(splits)
    split = read_split(options, origin.size, folder)
    partition = certified(split.among(origin.numbers, options), labels, n_classes, options)
    return replace(partition, ids=split.ids, source=split.digest)


def origin_of(splits: Splits) -> SampleNumbers:
    n = len(splits.train)
    return splits.origin or SampleNumbers(np.arange(n), n)


def with_scenario(
    config: Config, splits: Splits, partition: Partition, owned: tuple[Sequence[Indices], Sequence[Indices]]
) -> tuple[Splits, tuple[Event, ...]]:
    """The splits with the training images changed as the scenario says, and the event that records it."""
    options, seed = config.scenario, config.seed
    if options.is_empty:
        return splits, ()
    if partition.overlaps:
        what = f"clients of partition '{partition.name}' share images: a scenario changes each client's own"
        raise PartitionError(what, where="scenario", fix="choose a splitter without overlap, or leave the scenario out")
    (indices, local), train = owned, splits.train
    inputs, labels = train.inputs, train.labels.copy()
    if options.shift != "none":
        inputs = np.array(train.inputs)
    record: dict[str, dict[str, Any]] = {}
    for client in concerned(options, len(indices), seed).tolist():
        own, held = indices[client], local[client] if len(local) else np.empty(0, dtype=np.int64)
        rng = stream(seed, "scenario", "labels", client)
        labels[own], flipped = noisy_labels(labels[own], len(splits.classes), options.label_noise, rng)
        shift = drawn_shift(options, inputs.shape[1:], stream(seed, "scenario", "shift", client))
        if shift is not None:
            every = np.concatenate([own, held])
            inputs[every] = shift.apply(inputs[every])
        record[str(client)] = {"flipped": flipped, "of": len(own), **(shift.drawn if shift else {})}
    return replace(splits, train=Samples(inputs, labels)), (_event(config, record, len(indices)),)


def _event(config: Config, record: dict[str, dict[str, Any]], n_clients: int) -> Event:
    options = config.scenario
    flipped, total = (sum(line[key] for line in record.values()) for key in ("flipped", "of"))
    parts = [f"{flipped} of {total} labels replaced"] if options.label_noise else []
    parts += [f"{options.shift} of strength {options.strength:g}"] if options.shift != "none" else []
    message = f"scenario on {len(record)} of {n_clients} clients: {', '.join(parts)}"
    return Event("scenario", message, detail={**options.model_dump(), "changed": record})
