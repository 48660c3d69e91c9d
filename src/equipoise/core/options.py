"""The base of every block of settings: frozen, unknown keys refused, NaN and infinity refused."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

LARGEST, LARGEST_SEED = 2**31 - 1, 2**63 - 1
"""The largest integers that are accepted, for settings and for seeds: the store keeps none that is larger."""


class Options(BaseModel):
    """Settings of one named thing (a splitter, a method, a policy); field descriptions become the docs."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads yes, no, on and off as truth values, and Python would count them as 1 and 0."""
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("expected a number or a name, not yes or no")
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _can_be_counted(cls, value: Any, info: ValidationInfo) -> Any:
        largest = LARGEST_SEED if "seed" in str(info.field_name) else LARGEST
        if isinstance(value, int) and abs(value) > largest:
            raise ValueError(f"expected a whole number of at most {largest}")
        return value
