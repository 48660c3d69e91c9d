from __future__ import annotations

import pytest
from pydantic import Field, ValidationError

from equipoise.core.options import Options


class Some(Options):
    rate: float = Field(0.5, gt=0)
    count: int = 1


def test_settings_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Some().rate = 0.1  # type: ignore[misc]


@pytest.mark.parametrize(
    "given", [{"rat": 1.0}, {"rate": float("nan")}, {"rate": float("inf")}, {"rate": 0}, {"count": 1.5}]
)
def test_what_does_not_belong_is_refused(given):
    with pytest.raises(ValidationError):
        Some(**given)


@pytest.mark.parametrize("given", [{"count": True}, {"rate": True}])
def test_a_truth_value_is_not_a_number(given):
    with pytest.raises(ValidationError, match="expected a number or a name, not yes or no"):
        Some.model_validate(given)
