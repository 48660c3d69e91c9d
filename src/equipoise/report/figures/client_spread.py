"""Final accuracy of every client's own model, method by method: what a mean over clients hides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from equipoise.report.examined import ExaminedRun
from equipoise.report.figure import BoxChart, thinned
from equipoise.report.words import Say

MOST_DOTS = 200
"""Values per method; of more, evenly spaced ones in order of size, which leaves the quartiles where they are."""


def client_spread(
    groups: Mapping[str, Sequence[ExaminedRun]], places: Mapping[str, int], say: Say, setting: str = ""
) -> Iterator[BoxChart]:
    """One value per client and seed; `setting` is what all these runs face."""
    held = {label: np.sort(np.concatenate([seen.clients for seen in group])) for label, group in groups.items()}
    recorded = {label: values for label, values in held.items() if len(values)}
    if not recorded:
        return
    shown = {label: values[thinned(len(values), MOST_DOTS)].tolist() for label, values in recorded.items()}
    most = max(map(len, recorded.values()))
    few = say("thinned_values", shown=MOST_DOTS, n=most) if most > MOST_DOTS else ""
    note = " ".join(filter(None, [setting, few]))
    colours = {label: places[label] for label in shown}
    yield BoxChart(key="client-spread", x=say("accuracy"), values=shown, is_share=True, colours=colours, note=note)
