from __future__ import annotations

from equipoise.api.demo.part import CONTROL, Seeds
from equipoise.api.demo.servers import told


def around(mean: float) -> Seeds:
    return {0: mean, 1: mean + 0.01, 2: mean - 0.01}


def sizes(values: dict[str, Seeds]) -> dict[str, float]:
    return dict.fromkeys(values, 296_400.0)


def test_servers_are_sorted_and_held_against_the_control() -> None:
    gate = {0: 0.98, 1: 0.96, 2: 0.97}
    values = {"common-gate": gate, "parameter-average": around(0.2), "energy-gate": around(0.69), CONTROL: around(0.97)}
    part = told(values, sizes(values))
    assert part.says == (
        "Servers on one set of clients: from 20.0 % (parameter-average) to 97.0 % (common-gate); the untrained "
        "control, which hears no trained client, has 97.0 %, 2 of 3 are clearly below it, common-gate is level with it."
    )
    assert [row[0] for row in part.rows] == ["parameter-average", "energy-gate", "common-gate", CONTROL]
    assert part.rows[0][1:] == ["20.0 ± 1.0", "-77.0 [-77.0, -77.0] *", "296 kB"]
    assert part.rows[-1][2] == "–"


def test_a_server_above_the_control_is_said_to_be() -> None:
    values = {"energy-gate": around(0.69), "common-gate": around(0.99), CONTROL: around(0.9)}
    assert told(values, sizes(values)).says.endswith(
        "has 90.0 %, 1 of 2 are clearly below it, common-gate is 9.0 points above it."
    )


def test_all_below_the_control() -> None:
    values = {"energy-gate": around(0.6), "common-gate": around(0.7), CONTROL: around(0.9)}
    assert told(values, sizes(values)).says.endswith(
        "2 of 2 are clearly below it, common-gate is 20.0 points below it."
    )


def test_servers_that_are_level_have_no_table() -> None:
    values = {"energy-gate": around(0.971), "common-gate": around(0.972), CONTROL: around(0.97)}
    part = told(values, sizes(values))
    assert "all are between 97.0 and 97.2 %" in part.says
    assert part.rows == []
    assert len(part.numbers) == 3


def test_one_seed_has_no_interval() -> None:
    values: dict[str, Seeds] = {"energy-gate": {0: 0.6}, "common-gate": {0: 0.97}, CONTROL: {0: 0.9}}
    part = told(values, sizes(values))
    assert part.says.endswith("the untrained control, which hears no trained client, has 90.0 %.")
    assert [row[2] for row in part.rows] == ["–", "–", "–"]
