from __future__ import annotations

import pytest

from equipoise.client.groups import Phase, in_phase

GROUPS = {"head": ["head.weight"], "encoder": ["encoder.weight", "encoder.bias"]}
PHASES = (Phase(("head",), 2), Phase(("encoder",), 1), Phase(("head", "encoder")))


@pytest.mark.parametrize(
    ("place", "expected"),
    [(0, "head"), (1, "head"), (2, "encoder"), (3, "all"), (9, "all")],
)
def test_phases_follow_one_another_within_a_task(place, expected):
    members = {"head": set(GROUPS["head"]), "encoder": set(GROUPS["encoder"])}
    members["all"] = members["head"] | members["encoder"]
    assert in_phase(PHASES, GROUPS, place) == members[expected]


def test_without_phases_and_after_the_last_counted_one_everything_is_trained():
    assert in_phase((), GROUPS, 0) is None
    assert in_phase((Phase(("head",), 2),), GROUPS, 2) is None
