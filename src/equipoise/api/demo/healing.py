"""A λ policy that runs away, what the diagnosis says, and the same runs healed on the way by `guard=heal`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from equipoise.api.demo.part import Seeds, StoryPart, accuracy, average, interval
from equipoise.api.demo.policies import GUARDED

if TYPE_CHECKING:
    from equipoise.api.handle import RunHandle
    from equipoise.api.sweep import SweepHandle
    from equipoise.diagnose.finding import Finding

POLICY = "decoupled"


@dataclass(frozen=True)
class Course:
    """The runs of one row: accuracy, and λ over all clients."""

    label: str
    accuracy: Seeds
    largest: float
    last: float
    """Mean over clients and runs at the last checkpoint."""
    findings: Mapping[str, Sequence[Finding]]
    """Run → those of its findings that are above a note."""


def measured(found: SweepHandle) -> StoryPart:
    before, after = (_course(found, label) for label in (POLICY, POLICY + GUARDED))
    return told(before, after)


def _course(found: SweepHandle, label: str) -> Course:
    from equipoise.api.demo.cells import accuracies

    runs = [run for run in found.runs if found.labels[run.id] == label]
    lam = [values for run in runs for values in _weights(run)]
    return Course(
        label=label,
        accuracy=accuracies(found)[label],
        largest=max(max(values) for values in lam),
        last=fmean(values[-1] for values in lam),
        findings={run.id: [each for each in run.findings if each.severity != "note"] for run in runs},
    )


def _weights(run: RunHandle) -> list[list[float]]:
    """λ of each client at every checkpoint, as the diagnosis reads it: before its schedule."""
    by_client: dict[int, list[float]] = {}
    for client, value in run.metrics("lam").select("client", "value").iter_rows():
        by_client.setdefault(client, []).append(value)
    return list(by_client.values())


def told(before: Course, after: Course) -> StoryPart:
    sick = [(run_id, found[0]) for run_id, found in before.findings.items() if found]
    return StoryPart(
        name="healing",
        says=f"{_sick(before)} {_healed(before, after)}",
        numbers=[_numbers(course) for course in (before, after)],
        columns=["policy", "largest λ", "λ at the end", "accuracy", "diagnosis"],
        rows=[_row(course) for course in (before, after)],
        finding=replace(sick[0][1], evidence=()) if sick else None,
        diagnosed=sick[0][0] if sick else "",
    )


def _sick(course: Course) -> str:
    n, sick = len(course.findings), sum(bool(found) for found in course.findings.values())
    if not sick:
        return f"The diagnosis finds nothing above a note in {course.label}."
    codes = list(dict.fromkeys(found[0].code for found in course.findings.values() if found))
    return (
        f"{course.label} fails in {sick} of {n} run{'s' * (n != 1)}: {', '.join(codes)}, λ up to {course.largest:.2g}."
    )


def _healed(before: Course, after: Course) -> str:
    from equipoise.report.statistics import paired

    if not _reactions(after):
        return "The guard found nothing to heal."
    figures = f"{100 * average(after.accuracy).mean:.1f} % instead of {100 * average(before.accuracy).mean:.1f} %"
    difference = paired(after.accuracy, before.accuracy)
    if difference is None:
        return f"Healed on the way, the same run has {figures}."
    how = "clearly better" if difference.low > 0 else "clearly worse" if difference.high < 0 else "not clearly apart"
    return f"Healed on the way, the same runs have {figures}: {interval(difference)} points, {how}."


def _reactions(course: Course) -> list[Mapping[str, Any]]:
    return [each.healed for found in course.findings.values() for each in found if each.healed]


def _row(course: Course) -> list[str]:
    mean = accuracy(average(course.accuracy))
    return [course.label, f"{course.largest:.2g}", f"{course.last:.2g}", mean, _verdict(course)]


def _verdict(course: Course) -> str:
    if reactions := _reactions(course):
        steps = sorted({int(each["step"]) + 1 for each in reactions})
        return f"healed at checkpoint {', '.join(map(str, steps))}"
    codes = list(dict.fromkeys(each.code for found in course.findings.values() for each in found))
    return ", ".join(codes) or "nothing above a note"


def _numbers(course: Course) -> dict[str, Any]:
    return {
        "policy": course.label,
        "accuracy": asdict(average(course.accuracy)),
        "largest_lam": course.largest,
        "last_lam": course.last,
        "findings": sorted({each.code for found in course.findings.values() for each in found}),
        "healed": [dict(each) for each in _reactions(course)],
    }
