"""The base of every block of settings: frozen, unknown keys refused, NaN and infinity refused."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """Settings of one named thing (a splitter, a method, a policy); field descriptions become the docs."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)
