"""Chooses the three pictures that matter most for a run. The other pictures are folded.

In this order, until there are three, each picture once:

1. evidence of the findings above a note, causes before consequences, at most two pictures
2. the course of the headline metric, over seeds if there are several; without one, the groups of users
3. evidence of the notes, at most one picture
4. the partition, then how clients differ: groups of users, accuracy by client, deviation of prototypes
5. whatever else was recorded, in the order of the report

The evidence of a finding is the picture of the first number that its rule reads and that was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equipoise.diagnose.finding import Finding
from equipoise.diagnose.rule import RULES
from equipoise.report.figure import Figure, LineChart

MOST = 3
OF_FINDINGS, OF_NOTES = 2, 1
CURVES, GROUPS = ("overview", "accuracy", "slices", "ranking"), "groups"
CLIENTS = ("partition", "groups", "client-accuracy", "spread")
SHOWS = (
    ("lam", "lam"), ("schedule", "lam"), ("scale/", "losses"), ("sigma2/", "losses"), ("loss/", "losses"),
    ("grad/cosine", "conflict"), ("grad/", "gradients"), ("recall/", "recall"), ("accuracy/test", "client-accuracy"),
    ("accuracy/train", "client-accuracy"), ("accuracy/", "accuracy"), ("hr@", "slices"), ("hr@", "ranking"),
    ("memory/", "memory"), ("surprise/next", "drift-signals"), ("surprise", "surprise"), ("drift", "drift"),
    ("router/", "router"), ("branch/", "router"), ("update/", "client-loss"), ("samples", "partition"),
    ("fact:alpha", "partition"), ("fact:over", "partition"), ("*", "losses"),
)  # fmt: skip
"""(beginning of a name that rules read, key of the picture that shows it), the first that fits."""


def foremost(figures: Sequence[Figure], findings: Sequence[Finding]) -> list[Figure]:
    """At most three of a run's figures; `findings` as its verdict orders them."""
    known = {figure.key: figure for figure in figures}
    return [known[key] for key in list(dict.fromkeys(_order(figures, findings)))[:MOST]]


def _order(figures: Sequence[Figure], findings: Sequence[Finding]) -> Iterator[str]:
    known = {figure.key for figure in figures}
    severe = [each.code for each in findings if each.severity != "note"]
    notes = [each.code for each in findings if each.severity == "note"]
    first = _evidence(severe, known)[:OF_FINDINGS]
    yield from first
    courses = {figure.key for figure in figures if _is_course(figure)}
    yield from [key for key in (*CURVES, GROUPS) if key in courses or (key == GROUPS and key in known)][:1]
    yield from [key for key in _evidence(notes, known) if key not in first][:OF_NOTES]
    yield from (key for key in CLIENTS if key in known)
    yield from (figure.key for figure in figures)


def _is_course(figure: Figure) -> bool:
    return isinstance(figure, LineChart) and any(len(line.steps) > 1 for line in figure.lines)


def _evidence(codes: Sequence[str], known: set[str]) -> list[str]:
    """One picture per code that has one; rules of plugins that are not installed have none."""
    rules = set(RULES.names())
    shown = (next(_shown(RULES.find(code).make.reads, known), None) for code in codes if code in rules)
    return list(dict.fromkeys(key for key in shown if key))


def _shown(reads: Sequence[str], known: set[str]) -> Iterator[str]:
    for name in (one for read in reads for one in read.split("|")):
        yield from (key for beginning, key in SHOWS if name.startswith(beginning) and key in known)
