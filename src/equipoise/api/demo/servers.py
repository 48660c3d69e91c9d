"""Servers on one set of trained clients: nothing is trained again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from equipoise.api.demo.part import CONTROL, Seeds, StoryPart, accuracy, average, between, points

if TYPE_CHECKING:
    from equipoise.api.sweep import SweepHandle
    from equipoise.report.statistics import Difference

STUDY = "studies/demo-servers"
LEVEL = 0.01
"""Accuracies that differ by less, as shares of one, need no table."""


def measured(found: SweepHandle) -> StoryPart:
    from equipoise.api.demo.cells import accuracies, uploads

    return told(accuracies(found), uploads(found))


def told(values: Mapping[str, Seeds], sizes: Mapping[str, float]) -> StoryPart:
    """`values`: server → seed → accuracy, with the control among them; `sizes`: server → bytes up."""
    from equipoise.report.bytes import bytes_text
    from equipoise.report.statistics import paired

    figures = {server: average(seeds) for server, seeds in values.items()}
    apart = {server: paired(seeds, values[CONTROL]) for server, seeds in values.items() if server != CONTROL}
    means = {server: each.mean for server, each in figures.items()}
    is_level = max(means.values()) - min(means.values()) < LEVEL
    order = sorted(apart, key=lambda server: means[server])
    return StoryPart(
        name="servers",
        says=f"Servers on one set of clients: {_outcome(means, apart)}",
        numbers=[
            {
                "server": server,
                "accuracy": asdict(figures[server]),
                "to_control": asdict(difference) if (difference := apart.get(server)) else None,
                "bytes_up": sizes[server],
            }
            for server in [*order, CONTROL]
        ],
        columns=["server", "accuracy", "Δ to the control [95 %]", "sent up"],
        rows=[]
        if is_level
        else [
            [server, accuracy(figures[server]), points(apart.get(server)), bytes_text(sizes[server])]
            for server in [*order, CONTROL]
        ],
    )


def _outcome(means: Mapping[str, float], apart: Mapping[str, Difference | None]) -> str:
    trained = sorted(apart, key=lambda server: means[server])
    low, high = trained[0], trained[-1]
    control = f"the {CONTROL}, which hears no trained client, has {100 * means[CONTROL]:.1f} %"
    if max(means.values()) - min(means.values()) < LEVEL:
        return f"all are {between(list(means.values()))}; {control}."
    known = {server: each for server, each in apart.items() if each is not None}
    below = sum(each.high < 0 for each in known.values())
    against = f", {below} of {len(trained)} are clearly below it, {_best(high, known[high])}" if known else ""
    spread = f"{100 * means[low]:.1f} % ({low}) to {100 * means[high]:.1f} % ({high})"
    return f"from {spread}; {control}{against}."


def _best(server: str, difference: Difference) -> str:
    if not difference.is_clear:
        return f"{server} is level with it"
    return f"{server} is {abs(100 * difference.mean):.1f} points {'above' if difference.mean > 0 else 'below'} it"
