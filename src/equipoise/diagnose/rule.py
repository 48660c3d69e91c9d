"""A rule: the failure that it names, the numbers that it reads, and the pure function that looks for the failure.

    @Rule("lr-cut", severity="warning", when=("live",), reads=("scale/base",), limits=(Limit("low", 0.25, "…"),),
          says=…, cause=…, remedies=(…))
    def lr_cut(run, limit):
        yield Sign(client, steps, {"scale": 0.1})

The function yields one `Sign` for each place where the failure shows, the strongest first. `limit` maps the names of
the rule's limits to their values, after overrides.

`says` is a sentence with placeholders for the numbers of the first sign; {who} and {when} name clients and
checkpoints. A failure that shows in several forms has one sentence per form, by the sign's `form`.

A rule registers itself. A package of yours adds a rule by the same decorator, in a module of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from math import isfinite
from typing import Any, Literal

from equipoise.core import registry
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import Registry
from equipoise.diagnose.finding import Severity, Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy

When = Literal["start", "live", "end", "compare"]
Limits = Mapping[str, float]
Says = str | Mapping[str, str]
Heal = Callable[[Recording, Mapping[str, Any]], dict[str, Any]]
"""(what is known of the run, its configuration) → settings to go on with; empty where no change is safe."""
Look = Callable[[Recording, Limits], Iterable[Sign]]
OURS = "equipoise.diagnose.rules"


RULES: Registry[Rule] = registry.RULES


@dataclass(frozen=True)
class Limit:
    """A number of a rule that users may change: `limits.CODE.NAME=…` or `--set CODE.NAME=…`."""

    name: str
    default: float
    meaning: str


@dataclass(eq=False)
class Rule:
    """A decorator that registers the function which looks for this failure."""

    code: str
    _: KW_ONLY
    severity: Severity
    when: tuple[When, ...]
    """When it can be asked: before training, at every checkpoint, of a whole run, or of several runs."""
    reads: tuple[str, ...]
    """Inputs that must be there: metric names and patterns, `fact:x`, `reference`, `table`; a|b means either."""
    says: Says
    cause: str
    remedies: tuple[Remedy, ...]
    """The first that the run can take and does not have already is advised; the last asks for no setting."""
    limits: tuple[Limit, ...] = ()
    explains: tuple[str, ...] = ()
    """Codes of the symptoms that follow from this failure."""
    sees_all: bool = False
    """Whether it also sees numbers that are not finite; the other rules never do."""
    heal: Heal | None = None
    """What a guard may change in a run that goes on, where a change is safe."""
    look: Look = field(init=False)

    def __call__(self, look: Look) -> Look:
        if problems := [*self._problems(), *_signature(look)]:
            paths = [Problem(f"rule '{self.code}'", problem) for problem in problems]
            raise ConfigError(paths, where=place_of(look), fix="correct the arguments of @Rule, or its function")
        self.look = look
        RULES.register(self.code, module=look.__module__)(self)
        return look

    @property
    def is_ours(self) -> bool:
        """Whether it belongs to Equipoise rather than to a plugin."""
        return self.look.__module__.startswith(f"{OURS}.")

    @property
    def defaults(self) -> dict[str, float]:
        return {limit.name: limit.default for limit in self.limits}

    @property
    def doc(self) -> str:
        """The docstring of the function, or of its module: the failure first, then the signal."""
        of_module = getattr(self.look, "__globals__", {}).get("__doc__") or ""
        return (inspect.getdoc(self.look) or inspect.cleandoc(of_module)).strip()

    def is_asked(self, of_table: bool) -> bool:
        """Whether it applies to a comparison of runs, or to a single run."""
        return "compare" in self.when if of_table else set(self.when) != {"compare"}

    def missing(self, run: Recording) -> list[str]:
        return [need for need in self.reads if run.lacks(need)]

    def _problems(self) -> Iterable[str]:
        names = [limit.name for limit in self.limits]
        for limit in self.limits:
            if names.count(limit.name) > 1:
                yield f"limit '{limit.name}' is declared {names.count(limit.name)} times"
            if not isinstance(limit.default, int | float) or not isfinite(limit.default):
                yield f"limit '{limit.name}' has the default {limit.default!r}, which is not a finite number"
        if not self.says:
            yield "says is empty"
        if not self.remedies or self.remedies[-1].settings:
            yield "remedies must end with a remedy that asks for no setting"


def _signature(look: Look) -> Iterable[str]:
    try:
        inspect.signature(look).bind(None, None)
    except TypeError:
        yield f"its function takes {inspect.signature(look)}, and must take (run, limit)"


def place_of(look: Look) -> str:
    """File and line of a rule's function."""
    code = getattr(look, "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}" if code else repr(look)
