"""Sums over samples that add up over clients: formed some samples at a time, sent as half of a symmetric matrix.

    G = Σ_i x_i x_iᵀ      S = Σ_i x_i y_iᵀ (y one-hot)      m = Σ_i x_i      c = Σ_i y_i
    sent: of G the strips of 256 rows from their own columns on, as g_ij, or as g_ij/√(g_ii·g_jj) in half precision

Half precision keeps 11 bits of each quotient, so |Δg_ij| ≤ 2⁻¹¹·√(g_ii·g_jj). Numbers in single precision add up in
double without rounding, so that the order of clients makes no difference. With `parts` features are cut into equal
parts, and only products within a part are formed: G has that many times fewer entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.core.device import Device
from equipoise.core.values import State

STRIP = 256
"""Rows of G that are formed and sent together."""
ROWS = 2048
"""Samples whose products are formed in single precision before they are added up in double."""
VANISHING = 1e-30
"""Lengths of features that never vary: their products are 0."""
ON_CPU = Device()
Precision = Literal["single", "half"]


def strips(n_features: int, parts: int = 1) -> list[tuple[slice, slice]]:
    """Rows and columns of G that are sent."""
    size = -(-n_features // parts)
    ends = [(start, min(start + size, n_features)) for start in range(0, n_features, size)]
    return [
        (slice(row, min(row + STRIP, end)), slice(row, end)) for first, end in ends for row in range(first, end, STRIP)
    ]


def gram_entries(n_features: int, parts: int = 1) -> int:
    """Numbers of G that a client sends."""
    return sum((row.stop - row.start) * (column.stop - column.start) for row, column in strips(n_features, parts))


def needed_bytes(n_features: int, parts: int = 1) -> int:
    """Memory that these sums take at most: the total beside a client's sums and report, or beside the solution."""
    size, entries = -(-n_features // parts), gram_entries(n_features, parts)
    return 8 * entries + max(30 * entries, 24 * size * size) + 16 * ROWS * n_features


def most_features(memory: int, parts: int = 1) -> int:
    """Most features whose sums fit into so many bytes."""
    fits, too_many = 0, 2
    while needed_bytes(too_many, parts) <= memory:
        fits, too_many = too_many, 2 * too_many
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if needed_bytes(middle, parts) <= memory else (fits, middle)
    return fits


def added_up(
    samples: Iterable[tuple[Tensor, Tensor]], n_classes: int, parts: int = 1, device: Device = ON_CPU
) -> State:
    """G in strips, S, m and c in double precision, of features [N, D] on the device and labels [N], in pieces.

    Products are formed of distances from about the first piece's mean: features with a large mean cost no digits.
    """
    found: dict[str, Tensor] = {}
    pivot = torch.zeros(0)
    for x, labels in _gathered(samples):
        if not found:
            pivot, found = _pivot(x), _nothing(x.shape[1], n_classes, parts)
        x.sub_(pivot)
        cuts = strips(x.shape[1], parts)
        for strip, (row, column) in zip(_strips_of(found["gram"], cuts), cuts, strict=True):
            strip.add_(device.home(x[:, row].T @ x[:, column]))
        found["classes"] += device.home(x.T @ device.there(F.one_hot(labels, n_classes).float()))
        found["counts"] += torch.bincount(labels, minlength=n_classes)
    return _moved(found, device.home(pivot).double(), parts)


def _pivot(x: Tensor) -> Tensor:
    """Means, to a 64th of the power of two above each feature: products of few digits, as of 0 and 1, stay exact."""
    grid = (x.abs().amax(0).clamp_min(torch.finfo(x.dtype).tiny).log2().ceil() - 6).exp2()
    return (x.mean(0) / grid).round() * grid


def _nothing(n_features: int, n_classes: int, parts: int) -> dict[str, Tensor]:
    sizes = {"gram": (gram_entries(n_features, parts),), "classes": (n_features, n_classes), "counts": (n_classes,)}
    return {name: torch.zeros(size, dtype=torch.float64) for name, size in sizes.items()}


def _moved(found: State, pivot: Tensor, parts: int) -> State:
    """The sums of x + p, from those of x: S + p·cᵀ, m + n·p, and G + p·mᵀ + m·pᵀ + n·p·pᵀ."""
    m, counts = found["classes"].sum(1), found["counts"]
    classes, moved = found["classes"] + torch.outer(pivot, counts), m + counts.sum() * pivot
    cuts = strips(len(pivot), parts)
    for strip, (row, column) in zip(_strips_of(found["gram"], cuts), cuts, strict=True):
        strip.addr_(pivot[row], m[column]).addr_(moved[row], pivot[column])
    return {"gram": found["gram"], "classes": classes, "features": moved, "counts": counts}


def _strips_of(gram: Tensor, cuts: Sequence[tuple[slice, slice]]) -> list[Tensor]:
    """Each strip as a matrix, in the memory of all."""
    sizes = [(row.stop - row.start, column.stop - column.start) for row, column in cuts]
    flat = torch.split(gram, [height * width for height, width in sizes])
    return [strip.view(size) for strip, size in zip(flat, sizes, strict=True)]


def _gathered(samples: Iterable[tuple[Tensor, Tensor]]) -> Iterator[tuple[Tensor, Tensor]]:
    """The same samples in larger pieces."""
    held: list[tuple[Tensor, Tensor]] = []
    for piece in samples:
        held.append(piece)
        if sum(len(labels) for _, labels in held) >= ROWS:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(pieces: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    features, labels = zip(*pieces, strict=True)
    return torch.cat(features), torch.cat(labels)


def sent(sums: State, precision: Precision, parts: int = 1) -> State:
    """What a client sends of its sums."""
    small = {name: sums[name].float() for name in ("classes", "features", "counts")}
    if precision == "single":
        return {"gram": sums["gram"].float(), **small}
    lengths = _diagonal(sums["gram"], len(sums["features"]), parts).clamp_min(0).sqrt()
    factors = torch.where(lengths > VANISHING, lengths.reciprocal(), 0.0)
    scaled = _scaled(sums["gram"], factors, parts).clamp_(-1, 1)  # beyond 1 by rounding only
    return {"gram": scaled.half(), "lengths": lengths.float(), **small}


def received(report: State, parts: int = 1) -> State:
    """A client's sums in double precision, from what it sent."""
    exact = {name: tensor.double() for name, tensor in report.items()}
    lengths = exact.pop("lengths", None)
    if lengths is not None:
        exact["gram"] = _scaled(exact["gram"], lengths, parts).float().double()
    return exact


def whole(gram: Tensor, part: int, n_features: int, parts: int) -> tuple[Tensor, slice]:
    """The symmetric matrix of one part, and which features it is of."""
    size, cuts = -(-n_features // parts), strips(n_features, parts)
    own = slice(part * size, min((part + 1) * size, n_features))
    found = torch.empty(own.stop - own.start, own.stop - own.start, dtype=gram.dtype)
    for strip, (row, column) in zip(_strips_of(gram, cuts), cuts, strict=True):
        if own.start <= row.start < own.stop:
            rows = slice(row.start - own.start, row.stop - own.start)
            columns = slice(column.start - own.start, column.stop - own.start)
            found[rows, columns] = strip
            found[columns, rows] = strip.T
    return found, own


def _diagonal(gram: Tensor, n_features: int, parts: int) -> Tensor:
    return torch.cat([strip.diagonal() for strip in _strips_of(gram, strips(n_features, parts))])


def _scaled(gram: Tensor, factors: Tensor, parts: int) -> Tensor:
    """g_ij·f_i·f_j."""
    found, cuts = gram.clone(), strips(len(factors), parts)
    for strip, (row, column) in zip(_strips_of(found, cuts), cuts, strict=True):
        strip.mul_(factors[row, None]).mul_(factors[column])
    return found
