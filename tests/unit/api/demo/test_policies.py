"""λ policies: a table where they differ, one sentence where they do not, and always the untrained control."""

from __future__ import annotations

from dataclasses import replace

from equipoise.api.demo.part import CONTROL, Seeds
from equipoise.api.demo.policies import Policies, told


def around(mean: float, jitter: float = 0.0) -> Seeds:
    """Three seeds; `jitter` is what the second has more and the third less than the others follow."""
    return {0: mean, 1: mean + 0.02 + jitter, 2: mean - 0.02 - jitter}


FOUND = Policies(
    server="energy-gate",
    accuracy={"constant": around(0.7), "uncertainty": around(0.45, 0.005), "equilibrium": around(0.69, 0.02)},
    gated={"constant": around(0.978), "uncertainty": around(0.977), "equilibrium": around(0.979)},
    control=around(0.97),
    lam={"constant": [5.0, 5.0], "uncertainty": [1.37, 10.0, 6.8e6], "equilibrium": [50.0, 50.0]},
)


def test_a_policy_that_loses_is_named_with_its_points() -> None:
    part = told(FOUND)
    assert part.says.startswith(
        "λ policies under one server, energy-gate: below constant, clearly: uncertainty (-25.0 points); "
        "level with it: equilibrium."
    )
    assert "Under common-gate, which adds fixed features, all are between 97.7 and 97.9 %: it hides them." in part.says
    assert part.says.endswith("The untrained control has 97.0 %.")
    assert [row[0] for row in part.rows] == ["constant", "uncertainty", "equilibrium", CONTROL]
    assert part.rows[1][1] == "1.37 → 6.8e+06"
    assert part.rows[1][3].endswith("*")
    assert part.rows[0][3] == "–"
    assert part.rows[-1][1] == "–"


def test_a_policy_that_wins_is_named_too() -> None:
    part = told(replace(FOUND, accuracy={"constant": around(0.5), "equilibrium": around(0.7)}))
    assert "energy-gate: above constant, clearly: equilibrium (+20.0 points); level with it: none." in part.says


def test_policies_that_are_level_have_a_sentence_and_no_table() -> None:
    level = {"constant": around(0.7), "uncertainty": around(0.69, 0.03), "equilibrium": around(0.71, -0.03)}
    part = told(replace(FOUND, accuracy=level))
    assert "none is clearly apart from constant, between 69.0 and 71.0 %." in part.says
    assert part.rows == []
    assert [row["policy"] for row in part.numbers] == [*level, CONTROL], "the numbers are kept"
    assert "The untrained control has 97.0 %." in part.says


def test_one_seed_claims_nothing() -> None:
    single = replace(
        FOUND,
        accuracy={label: {0: seeds[0]} for label, seeds in FOUND.accuracy.items()},
        control={0: 0.97},
    )
    part = told(single)
    assert "between 45.0 and 70.0 %; one seed does not tell whether they differ." in part.says
    assert [row[3] for row in part.rows] == ["–"] * 4


def test_a_server_that_hides_nothing_is_not_said_to() -> None:
    assert "hides" not in told(replace(FOUND, gated=FOUND.accuracy)).says
