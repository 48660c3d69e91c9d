"""What every term of an objective promises: `client.terms`."""

from __future__ import annotations

import math

from equipoise.testing.methods import config_of, order_does_not_matter, resuming_changes_nothing, steps_of


def check_term(name: str, weight: float = 0.1) -> None:
    """Check that it is finite, recorded under its name, and the same in any order of clients and after a resume."""
    run = steps_of(config_of("fedavg", "rounds", f"client.terms.{name}={weight}"))
    values = [row.value for record in run.records for row in record.rows if row.name == f"loss/{name}"]
    assert values, f"loss/{name} was not recorded"
    assert all(map(math.isfinite, values)), f"loss/{name} is not finite"
    order_does_not_matter(run)
    resuming_changes_nothing(run)
