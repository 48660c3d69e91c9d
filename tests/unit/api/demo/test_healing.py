"""A runaway and its healing, told from the findings and the numbers."""

from __future__ import annotations

from dataclasses import replace

from equipoise.api.demo.healing import Course, told
from tests.unit.api.demo.findings import HEALED, RUNAWAY

SICK = Course(
    label="decoupled",
    accuracy={0: 0.50, 1: 0.52, 2: 0.54},
    largest=1.1e10,
    last=8.3e8,
    findings={"decoupled-a": [RUNAWAY], "decoupled-b": [RUNAWAY], "decoupled-c": [RUNAWAY]},
)
WELL = Course(
    label="decoupled, guarded",
    accuracy={0: 0.68, 1: 0.69, 2: 0.73},
    largest=3900.0,
    last=9.6,
    findings={"guarded-a": [HEALED], "guarded-b": [HEALED], "guarded-c": [HEALED]},
)


def test_what_failed_what_it_is_called_and_what_healing_gained() -> None:
    part = told(SICK, WELL)
    assert part.says == (
        "decoupled fails in 3 of 3 runs: lambda-runaway, λ up to 1.1e+10. Healed on the way, the same runs have "
        "70.0 % instead of 52.0 %: +18.0 [+15.5, +20.5] points, clearly better."
    )
    assert part.finding is not None
    assert (part.diagnosed, part.finding.code, part.finding.evidence) == ("decoupled-a", "lambda-runaway", ())
    assert part.rows == [
        ["decoupled", "1.1e+10", "8.3e+08", "52.0 ± 2.0", "lambda-runaway"],
        ["decoupled, guarded", "3.9e+03", "9.6", "70.0 ± 2.6", "healed at checkpoint 2"],
    ]
    assert part.numbers[1]["healed"] == [{"step": 1, "changes": {"balance.ceiling": 11.3}}] * 3


def test_healing_that_does_not_help_is_not_praised() -> None:
    level = told(SICK, replace(WELL, accuracy={0: 0.48, 1: 0.55, 2: 0.54}))
    assert level.says.endswith("points, not clearly apart.")
    worse = told(SICK, replace(WELL, accuracy={0: 0.30, 1: 0.32, 2: 0.34}))
    assert worse.says.endswith("-20.0 [-20.0, -20.0] points, clearly worse.")


def test_where_nothing_ran_away_nothing_was_found_or_healed() -> None:
    well = {run: [] for run in SICK.findings}
    part = told(replace(SICK, findings=well), replace(WELL, findings=well))
    assert part.says == "The diagnosis finds nothing above a note in decoupled. The guard found nothing to heal."
    assert part.finding is None
    assert part.rows[0][-1] == "nothing above a note"


def test_one_seed_has_no_interval() -> None:
    one = replace(SICK, accuracy={0: 0.5}, findings={"decoupled-a": [RUNAWAY]})
    part = told(one, replace(WELL, accuracy={0: 0.7}, findings={"guarded-a": [HEALED]}))
    assert part.says.startswith("decoupled fails in 1 of 1 run: lambda-runaway")
    assert part.says.endswith("Healed on the way, the same run has 70.0 % instead of 50.0 %.")
