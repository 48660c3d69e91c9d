"""What another tool says of a run's settings, in the shape of a configuration: `diagnose`, `compare`, `report` read it.

It is never checked as a configuration, trained, or asked for plugins, because anybody may have written it. A setting
whose value has another type than ours stays under `settings`, where nothing computes with it.
"""

from __future__ import annotations

import math
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from equipoise.config.blocks import ClientOptions, InteractionOptions, PartitionOptions, SampleOptions, ServerOptions
from equipoise.store.records import IMPORTED
from equipoise.track.history import ForeignHistory

UNKNOWN = "unknown"
NAMED_BLOCKS = ("method", "balance", "data", "partition", "model")
FIELDS: dict[str, dict[str, FieldInfo]] = {
    **{block: {} for block in NAMED_BLOCKS},
    "data": {**InteractionOptions.model_fields, **SampleOptions.model_fields},
    "partition": PartitionOptions.model_fields,
    "client": ClientOptions.model_fields,
    "server": ServerOptions.model_fields,
}
"""The blocks that are filled, with the settings whose types are known."""
DROPPED = {"name", "seed", "engine", "plugins", "track", "guard", "limits", "evaluate", "scenario"}
"""Settings of a run of Equipoise that say nothing about its numbers, or are kept elsewhere."""
AXES = {"communication", "rounds", "checkpoints"}
MOST_SETTINGS = 500


def config_of(history: ForeignHistory, name: str) -> dict[str, Any]:
    """The settings as a configuration; what no block of ours is for is under `settings`."""
    blocks: dict[str, dict[str, Any]] = {block: {"name": UNKNOWN} for block in NAMED_BLOCKS}
    blocks |= {"client": {}, "server": {}, "engine": {"name": UNKNOWN}, "settings": {}}
    given = dict(list(history.settings.items())[:MOST_SETTINGS])
    for key, value in given.items():
        block, _, rest = key.partition(".")
        if is_ours(key, value):
            blocks[block][rest] = value
        elif key not in AXES and block not in DROPPED:
            blocks["settings"][key] = value
    blocks["method"]["name"] = IMPORTED  # so `check` refuses it, and loads no code that it names
    return {"name": name, **_steps(given, history.recording.last + 1), **blocks}


def is_ours(key: str, value: Any) -> bool:
    """Whether a setting is one of a block of ours and has its type.

    >>> is_ours("client.epochs", 3), is_ours("client.epochs", "many"), is_ours("optimizer", "sgd")
    (True, False, False)
    """
    block, dot, rest = key.partition(".")
    if (
        not dot
        or block not in FIELDS
        or key == "method.name"
        or (isinstance(value, float) and not math.isfinite(value))
    ):
        return False
    field = FIELDS[block].get(rest)
    if field is None:  # a setting of a method, a policy, a model … of its own
        return block in NAMED_BLOCKS
    try:
        TypeAdapter(Any if field.annotation is None else field.annotation).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def _steps(given: dict[str, Any], recorded: int) -> dict[str, Any]:
    """The number of steps as a whole number of one axis, whatever the tool said."""
    is_one_shot = given.get("communication") == "one-shot"
    axis, other = ("checkpoints", "rounds") if is_one_shot else ("rounds", "checkpoints")
    planned = max(whole(given.get(axis)), recorded)
    return {"communication": "one-shot" if is_one_shot else "rounds", axis: planned, other: None}


def whole(value: Any) -> int:
    """A count, or 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0
