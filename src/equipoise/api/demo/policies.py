"""λ policies on the same clients' data, under one server that hears the trained clients alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from equipoise.api.demo.part import CONTROL, Seeds, StoryPart, accuracy, average, between, listed, points

if TYPE_CHECKING:
    from equipoise.api.sweep import SweepHandle
    from equipoise.report.statistics import Difference

STUDY = "studies/demo-policies"
GUARDED = ", guarded"
"""Ends the label of the row that belongs to the story of healing."""


@dataclass(frozen=True)
class Policies:
    """Policy → seed → accuracy under `server`, and as `gated` under the server that adds fixed features."""

    server: str
    accuracy: Mapping[str, Seeds]
    gated: Mapping[str, Seeds]
    control: Seeds
    lam: Mapping[str, list[float]]
    """Policy → λ at every checkpoint."""

    def differences(self) -> dict[str, Difference | None]:
        """Each policy and the control against the first policy, paired by seed."""
        from equipoise.report.statistics import paired

        first = next(iter(self.accuracy.values()))
        others = list({**self.accuracy, CONTROL: self.control}.items())[1:]
        return {label: paired(seeds, first) for label, seeds in others}


def measured(found: SweepHandle) -> StoryPart:
    from equipoise.api.demo.cells import accuracies, final, weights

    values = {label: seeds for label, seeds in accuracies(found).items() if not label.endswith(GUARDED)}
    first = next(iter(values))
    return told(
        Policies(
            server=str(found.places[0].cell.config.server.predict),
            accuracy=values,
            gated={label: final(found, "accuracy/merged/common-gate")[label] for label in values},
            control=final(found, "accuracy/merged/common")[first],
            lam=weights(found),
        )
    )


def told(found: Policies) -> StoryPart:
    apart = found.differences()
    clear = {label: each for label, each in apart.items() if label != CONTROL and each is not None and each.is_clear}
    is_level = not clear and any(each is not None for each in apart.values())
    rows = [] if is_level else [_row(found, label, apart) for label in [*found.accuracy, CONTROL]]
    first = next(iter(found.accuracy))
    return StoryPart(
        name="policies",
        says=f"λ policies under one server, {found.server}: {_outcome(found, clear)} {_beside(found)}",
        numbers=[_numbers(found, label, apart) for label in [*found.accuracy, CONTROL]],
        columns=["policy", "λ used, start → end", found.server, f"Δ to {first} [95 %]"],
        rows=rows,
    )


def _outcome(found: Policies, clear: Mapping[str, Difference]) -> str:
    first, means = next(iter(found.accuracy)), [average(seeds).mean for seeds in found.accuracy.values()]
    if len(next(iter(found.accuracy.values()))) < 2:
        return f"{between(means)}; one seed does not tell whether they differ."
    if not clear:
        return f"none is clearly apart from {first}, {between(means)}."
    sides = {
        "below": [f"{label} ({100 * each.mean:+.1f} points)" for label, each in clear.items() if each.mean < 0],
        "above": [f"{label} ({100 * each.mean:+.1f} points)" for label, each in clear.items() if each.mean > 0],
    }
    said = [f"{side} {first}, clearly: {listed(labels)}" for side, labels in sides.items() if labels]
    level = [label for label in list(found.accuracy)[1:] if label not in clear]
    return f"{'; '.join(said)}; level with it: {listed(level) or 'none'}."


def _beside(found: Policies) -> str:
    gated = [average(seeds).mean for seeds in found.gated.values()]
    hidden = f"Under common-gate, which adds fixed features, all are {between(gated)}: it hides them. "
    is_hidden = max(gated) - min(gated) < 0.01
    return f"{hidden if is_hidden else ''}The {CONTROL} has {100 * fmean(found.control.values()):.1f} %."


def _seeds(found: Policies, label: str) -> Seeds:
    return found.control if label == CONTROL else found.accuracy[label]


def _row(found: Policies, label: str, apart: Mapping[str, Difference | None]) -> list[str]:
    lam = found.lam.get(label, []) if label != CONTROL else []
    course = f"{lam[0]:.3g} → {lam[-1]:.3g}" if lam else "–"
    delta = points(apart[label]) if label in apart else "–"
    return [label, course, accuracy(average(_seeds(found, label))), delta]


def _numbers(found: Policies, label: str, apart: Mapping[str, Difference | None]) -> dict[str, Any]:
    lam, difference = found.lam.get(label, []), apart.get(label)
    return {
        "policy": label,
        "lam": list(lam) if label != CONTROL else [],
        "accuracy": asdict(average(_seeds(found, label))),
        "difference": None if difference is None else asdict(difference),
    }
