"""Features of test images from the clients' encoders, projected onto a plane; coloured by class and by client."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.core.values import Floats
from equipoise.report.figure import ScatterChart, thinned
from equipoise.report.figures.curves import client_places
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

MOST_CLIENTS, MOST_POINTS = 8, 800
PREFIX = "features/"


def features(source: FigureSource, say: Say) -> Iterator[ScatterChart]:
    kept = source.pictures
    owners = sorted((name for name in kept if name.startswith(PREFIX)), key=lambda name: int(name.removeprefix(PREFIX)))
    owners = [owners[i] for i in thinned(len(owners), MOST_CLIENTS)] if owners else []
    if not owners:
        return
    some = thinned(len(kept["labels"]), MOST_POINTS // len(owners))
    vectors = np.concatenate([kept[name][some] for name in owners])
    places, how = (nearby(vectors), "t-SNE") if source.projection == "tsne" else (plane(vectors), "PCA")
    classes = [say("class_n", name=label) for label in kept["labels"][some]] * len(owners)
    names = [say("client_n", client=name.removeprefix(PREFIX)) for name in owners]
    whose = [name for name in names for _ in some]
    colours = dict(zip(names, client_places([int(name.removeprefix(PREFIX)) for name in owners]), strict=True))
    yield ScatterChart(key="features-class", places=places, groups=classes, group=say("class"), note=f"{how}.")
    yield ScatterChart(
        key="features-client", places=places, groups=whose, group=say("client"), colours=colours, note=f"{how}."
    )


def plane(vectors: Floats) -> Floats:
    """PCA to two dimensions: float64 [N, D] → [N, 2]; the largest weight fixes the signs."""
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    first = directions[:2]
    signs = np.sign(np.take_along_axis(first, np.abs(first).argmax(axis=1)[:, None], axis=1))
    found: Floats = centred @ (first * signs).T
    return found if found.shape[1] == 2 else np.pad(found, ((0, 0), (0, 2 - found.shape[1])))


def nearby(vectors: Floats) -> Floats:
    """t-SNE to two dimensions, deterministic. Neighbours stay close; distances between clusters have no meaning."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(1.0, (len(vectors) - 1) / 3))
    found: Floats = TSNE(  # type: ignore[no-untyped-call]
        perplexity=perplexity, init="pca", random_state=0
    ).fit_transform(vectors)
    return found.astype(np.float64)
