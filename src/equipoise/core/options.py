"""The base of every block of settings: frozen, unknown keys refused, NaN and infinity refused."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator


class Options(BaseModel):
    """Settings of one named thing (a splitter, a method, a policy); field descriptions become the docs."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any) -> Any:
        """YAML reads yes, no, on and off as truth values, and Python would count them as 1 and 0."""
        if isinstance(value, bool):
            raise ValueError("expected a number or a name, not yes or no")
        return value
