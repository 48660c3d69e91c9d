"""The limits of all rules, with the changes that a user asks for.

Every rule declares its limits in its own file: name, default and meaning. Shares, slopes and ratios are as in the
rule's docstring; accuracies are shares of one. `--set lr-cut.low=0.1` on a command and `limits.lr-cut.low=0.1` in a
configuration change them.
"""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import suggestion
from equipoise.diagnose.rule import RULES


def limits(changes: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """{code: {limit: value}} with these changes; an unknown code or limit is an error that suggests the nearest."""
    problems = []
    table = {entry.name: entry.make.defaults for entry in RULES}
    for code, line in changes.items():
        if code not in table:
            problems.append(Problem(code, f"there is no such rule{suggestion(code, list(table))}"))
            continue
        unknown = [name for name in line if name not in table[code]]
        for name in unknown:
            known = suggestion(name, list(table[code])) if table[code] else ", which has no limits"
            problems.append(Problem(f"{code}.{name}", f"not a limit of '{code}'{known}"))
        table[code] |= {name: value for name, value in line.items() if name not in unknown}
    if problems:
        raise ConfigError(problems)
    return table
