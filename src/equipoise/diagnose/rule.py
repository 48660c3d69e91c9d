"""A rule: which failure it names, what it reads, and the pure function that looks for signs of it.

    @Rule("lr-cut", severity="warning", when="live", reads=("scale/base",), says=…, cause=…, remedies=(…))
    def lr_cut(run, limit):
        yield Sign(client, steps, {"scale": 0.1})

`says` is a sentence into which the numbers of the strongest sign, the first, are put; {who} and {when} name clients and
checkpoints. Where a failure shows in several ways it is a sentence for each, by the sign's `form`. `limit` holds the
rule's line of the table of limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from equipoise.core import registry
from equipoise.core.origin import origin, require_shape
from equipoise.core.registry import Registry
from equipoise.diagnose.finding import Severity, Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy

When = Literal["start", "live", "end", "compare"]
Limits = Mapping[str, float]
Says = str | Mapping[str, str]
Heal = Callable[[Recording, Mapping[str, Any]], dict[str, Any]]
"""(what is known of the run, its configuration) → settings to go on with; nothing where none is safe."""
Look = Callable[[Recording, Limits], Iterable[Sign]]


RULES: Registry[Rule] = registry.RULES


@dataclass(eq=False)
class Rule:
    """A decorator that registers the function which looks for this failure."""

    code: str
    _: KW_ONLY
    severity: Severity
    when: tuple[When, ...]
    """From when on it can be asked: before training, at every checkpoint, of a whole run, or of several runs."""
    reads: tuple[str, ...]
    """Without these it is not examined: metric names and patterns, `fact:x`, `reference`, `table`; a|b is either."""
    says: Says
    cause: str
    remedies: tuple[Remedy, ...]
    """The first that the run can take and does not have already is advised; the last asks for no setting."""
    limits: Limits = field(default_factory=dict)
    """When a number is a sign of the failure; of our own rules these stand in the table of limits."""
    explains: tuple[str, ...] = ()
    """Codes of the symptoms that follow from this failure."""
    sees_all: bool = False
    """Whether it is shown numbers that are not finite; the others never see one."""
    heal: Heal | None = None
    """What a guard may change in a run that goes on, where that is safe."""
    look: Look = field(init=False)

    def __call__(self, look: Look) -> Look:
        require_shape(f"rule '{self.code}'", look, ("run", "limit"), origin(look.__module__))
        self.look = look
        RULES.register(self.code, module=look.__module__)(self)
        return look

    def is_asked(self, of_table: bool) -> bool:
        """Whether it has something to say of a table of runs, or of a run."""
        return "compare" in self.when if of_table else set(self.when) != {"compare"}

    def missing(self, run: Recording) -> list[str]:
        return [need for need in self.reads if run.lacks(need)]
