"""Samples per client and class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.report.figure import Heatmap
from equipoise.report.partition_chart import drawn_rows
from equipoise.report.source import FigureSource
from equipoise.report.words import Say


def partition(source: FigureSource, say: Say) -> Iterator[Heatmap]:
    found = source.partition
    if found is None or "labels" not in source.recording.facts:
        return
    counts = np.asarray(found.counts)
    shown = drawn_rows(counts)
    n_clients = found.n_clients
    few = say("thinned_clients", shown=len(shown), n=n_clients) if len(shown) < n_clients else ""
    shared = f"{say('overlap')}: {found.overlap_text}" if found.overlaps else say("no_overlap")
    alpha = f"α = {found.options['alpha']:g}" if "alpha" in found.options else ""
    parts = [found.name, alpha, f"{say('fingerprint')} {found.fingerprint[:12]}", shared, few]
    yield Heatmap(
        key="partition",
        x=say("class"),
        y=say("client"),
        columns=[str(c) for c in range(counts.shape[1])],
        rows=[str(client) for client in shown],
        values=np.where(counts[shown] > 0, counts[shown], np.nan),
        measure=say("images"),
        scale="sqrt",
        note=" · ".join(part for part in parts if part),
    )
