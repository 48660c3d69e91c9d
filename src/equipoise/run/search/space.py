"""What a search may vary: a range of numbers, or a list of values, by dotted key.

client.lr: {low: 1e-4, high: 1e-1, log: true}    client.epochs: {low: 1, high: 5}    balance: [v12, v13]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias, get_args

from equipoise.config.loader import flat_overrides
from equipoise.config.schema import Config
from equipoise.core.errors import Problem

PARTS = {"low", "high", "log", "step"}
MOST_CORNERS = 64
"""Up to this number of combinations of listed values, every one is checked before the first trial."""
DIGITS, STEP_DIGITS = 4, 10
"""Significant digits of a drawn number: what a table prints is what ran."""


@dataclass(frozen=True)
class SearchRange:
    low: float
    high: float
    log: bool = False
    step: float | None = None
    is_whole: bool = False
    """Whether the setting is a whole number."""

    def rounded(self, value: float) -> float | int:
        """A drawn number with few digits, still within the range."""
        if self.is_whole:
            return round(value)
        short = float(f"{value:.{DIGITS if self.step is None else STEP_DIGITS}g}")
        return min(max(short, self.low), self.high)


@dataclass(frozen=True)
class SearchChoice:
    values: tuple[Any, ...]


SearchAxis: TypeAlias = SearchRange | SearchChoice
Space: TypeAlias = Mapping[str, SearchAxis]
Settings: TypeAlias = dict[str, Any]


def read_space(raw: Any) -> tuple[dict[str, SearchAxis], list[Problem]]:
    """The axes by canonical key, and everything that is wrong with their form."""
    if not isinstance(raw, Mapping):
        return {}, [Problem("search", f"expected a key and a range or a list for each, got {raw!r}")]
    space: dict[str, SearchAxis] = {}
    problems: list[Problem] = []
    for given, value in _walked(raw):
        key = canonical(given)
        if key in space:
            problems.append(Problem(f"search.{key}", "stands there twice"))
        wrong = _wrong(value)
        problems += [Problem(f"search.{key}", text) for text in wrong]
        if not wrong:
            space[key] = SearchRange(**value) if isinstance(value, Mapping) else SearchChoice(tuple(value))
    return space, problems


def canonical(key: str) -> str:
    """The key that a name of it stands for: `lr` is client.lr, `balance` is balance.name."""
    (found,) = flat_overrides([f"{key}=0"])
    return found


def _walked(raw: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted key, range or list) of everything inside nested blocks."""
    for key, value in raw.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping) and not PARTS & set(value):
            yield from _walked(value, here)
        else:
            yield here, value


def _wrong(value: Any) -> list[str]:
    if isinstance(value, list):
        return _wrong_list(value)
    if not isinstance(value, Mapping):
        return [f"expected a range such as {{low: 0.1, high: 1}} or a list of values, got {value!r}"]
    unknown = [f"unknown key '{key}' in a range; it has low, high, log and step" for key in value.keys() - PARTS]
    missing = [f"a range needs {key}" for key in ("low", "high") if key not in value]
    typed = [
        f"{key}: expected a number, got {value[key]!r}"
        for key in ("low", "high", "step")
        if key in value and (not isinstance(value[key], int | float) or isinstance(value[key], bool))
    ]
    if not isinstance(value.get("log", False), bool):
        typed.append(f"log: expected true or false, got {value['log']!r}")
    return [*sorted(unknown), *missing, *typed] or _wrong_range(SearchRange(**value))


def _wrong_range(axis: SearchRange) -> list[str]:
    wrong = []
    if not axis.low < axis.high:
        wrong.append(f"low must be below high, got {axis.low:g} and {axis.high:g}")
    if axis.log and axis.low <= 0:
        wrong.append(f"a logarithmic range begins above zero, got low {axis.low:g}")
    if axis.step is not None and not 0 < axis.step <= axis.high - axis.low:
        wrong.append(f"step must be above zero and at most high − low, got {axis.step:g}")
    if axis.log and axis.step is not None:
        wrong.append("a logarithmic range has no step")
    return wrong


def _wrong_list(values: list[Any]) -> list[str]:
    if len(values) < 2:
        return [f"a list needs two values or more, got {values!r}; a single one belongs into base"]
    twice = [value for i, value in enumerate(values) if value in values[:i]]
    return [f"{value!r} stands there twice" for value in twice]


def corners(space: Space) -> list[Settings]:
    """Settings that are checked beforehand: every combination of listed values, or if they are many each value once;
    each with all ranges at their low and at their high ends."""
    listed = {key: axis.values for key, axis in space.items() if isinstance(axis, SearchChoice)}
    first = {key: values[0] for key, values in listed.items()}
    n_combinations = 1
    for values in listed.values():
        n_combinations *= len(values)
    if n_combinations <= MOST_CORNERS:
        chosen = [dict(zip(listed, values, strict=True)) for values in product(*listed.values())]
    else:
        chosen = [first, *({**first, key: value} for key, values in listed.items() for value in values[1:])]
    ends = [
        {key: getattr(axis, end) for key, axis in space.items() if isinstance(axis, SearchRange)}
        for end in ("low", "high")
    ]
    found = [{key: {**each, **end}[key] for key in space} for each in chosen for end in ends]
    return [each for i, each in enumerate(found) if each not in found[:i]]


def is_whole(config: Config, key: str) -> bool | None:
    """Whether the schema takes whole numbers only for that key; None if no number at all, or no such setting here."""
    *blocks, last = key.split(".")
    at: Any = config
    for block in blocks:
        at = getattr(at, block, None)
    field = getattr(type(at), "model_fields", {}).get(last)
    if field is None:
        return None
    kinds = {field.annotation, *get_args(field.annotation)}
    return False if float in kinds else True if int in kinds else None
