"""Scenarios: make clients differ in their labels or their images, on any image set.

    label noise   round(ν·n) labels of a client, drawn uniformly, become another class, each with chance 1/(C−1)
    rotation      θ ~ U(−1, 1)·s·180°, all images turned by θ about their centre, bilinear, edges repeated
    colour        x' = 255·clip(g_c·x/255 + b_c):  g_c = 1 + s·U(−1, 1),  b_c = s/2·U(−1, 1), one pair per channel
    blur          Gaussian of σ = s·u·H/8 pixels,  u ~ U(0, 1)

s is `scenario.strength`, ν is `scenario.label_noise`. A client draws one shift for all its images, from streams of its
own (seed, "scenario", …, client), so that nobody's draw depends on anybody else's. Source: ours; feature shift by
rotation as in IFCA's rotated MNIST (Ghosh et al. 2020, arXiv:2006.04088), symmetric label noise as in Patrini et al.
2017 (arXiv:1609.03683).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equipoise.config.blocks import ScenarioOptions
from equipoise.core.streams import stream
from equipoise.core.values import Floats, Indices, Labels, Pixels


@dataclass(frozen=True)
class Shift:
    """What happens to a client's images: the kind, and the numbers it drew, as they are recorded."""

    kind: str
    drawn: dict[str, float | list[float]]
    apply: Callable[[Pixels], Pixels]


def concerned(options: ScenarioOptions, n_clients: int, seed: int) -> Indices:
    """The clients that a scenario changes, ascending: a share of them, at least one."""
    count = max(1, round(options.clients * n_clients))
    return np.sort(stream(seed, "scenario", "clients").choice(n_clients, count, replace=False))


def noisy_labels(labels: Labels, n_classes: int, share: float, rng: np.random.Generator) -> tuple[Labels, int]:
    """The labels with a share of them replaced by another class, and how many were."""
    count = round(share * len(labels))
    chosen = rng.choice(len(labels), count, replace=False)
    changed = labels.copy()
    changed[chosen] = (labels[chosen] + rng.integers(1, n_classes, count)) % n_classes
    return changed, count


def drawn_shift(options: ScenarioOptions, shape: tuple[int, ...], rng: np.random.Generator) -> Shift | None:
    """A client's shift of images [C, H, W]; None where the scenario has none."""
    if options.shift == "none":
        return None
    channels, height = shape[0], shape[1]
    if options.shift == "rotation":
        angle = float(rng.uniform(-1, 1) * options.strength * 180)
        return Shift("rotation", {"angle": angle}, lambda pixels: rotated(pixels, angle))
    if options.shift == "colour":
        gain = 1 + options.strength * rng.uniform(-1, 1, channels)
        offset = options.strength / 2 * rng.uniform(-1, 1, channels)
        drawn: dict[str, float | list[float]] = {"gain": gain.tolist(), "offset": offset.tolist()}
        return Shift("colour", drawn, lambda pixels: recoloured(pixels, gain, offset))
    sigma = float(options.strength * rng.uniform(0, 1) * height / 8)
    return Shift("blur", {"sigma": sigma}, lambda pixels: blurred(pixels, sigma))


def rotated(pixels: Pixels, angle: float) -> Pixels:
    """Images [N, C, H, W] turned counter-clockwise by `angle` degrees, of the same size."""
    from scipy.ndimage import rotate  # type: ignore[attr-defined]

    turned = rotate(pixels.astype(np.float32), angle, axes=(3, 2), reshape=False, order=1, mode="nearest")
    return _bytes(turned)


def recoloured(pixels: Pixels, gain: Floats, offset: Floats) -> Pixels:
    per_channel = (1, -1, 1, 1)
    return _bytes(gain.reshape(per_channel) * pixels + 255 * offset.reshape(per_channel))


def blurred(pixels: Pixels, sigma: float) -> Pixels:
    from scipy.ndimage import gaussian_filter  # type: ignore[attr-defined]

    return _bytes(gaussian_filter(pixels.astype(np.float32), (0, 0, sigma, sigma), mode="nearest"))


def _bytes(values: np.typing.NDArray[np.floating]) -> Pixels:
    rounded: Pixels = np.rint(values.clip(0, 255)).astype(np.uint8)
    return rounded
