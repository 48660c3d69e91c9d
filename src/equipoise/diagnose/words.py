"""The sentences of a finding in the reader's language; English stands in the rules, Chinese beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.core.errors import ConfigError
from equipoise.diagnose.chinese import CHINESE
from equipoise.diagnose.rule import Rule, Says

LANGUAGES = ("en", "zh")
LABELS = {
    "en": {
        "found": "{n} found",
        "nothing": "nothing found",
        "why": "why",
        "try": "try",
        "follows": "follows from {codes}",
        "passed": "looked for and not found: {codes}",
        "skipped": "not examined, for want of what they read: {codes}",
        "none": "none",
        "error": "error",
        "warning": "warning",
        "note": "note",
        "row": "{who}, checkpoints {first} to {last}: {numbers}",
        "server": "server",
        "healed": "healed at checkpoint {step}: from there on {changes}",
        "client": "client {client}",
    },
    "zh": {
        "found": "{n} 项结论",
        "nothing": "没有发现问题",
        "why": "原因",
        "try": "对策",
        "follows": "由 {codes} 引起",
        "passed": "检查过、未发现：{codes}",
        "skipped": "缺少所需数据、未检查：{codes}",
        "none": "无",
        "error": "错误",
        "warning": "警告",
        "note": "提示",
        "row": "{who}，第 {first} 至 {last} 个检查点：{numbers}",
        "server": "服务器",
        "healed": "在第 {step} 个检查点自动修复：此后 {changes}",
        "client": "客户端 {client}",
    },
}
"""The words around findings, wherever they are printed."""
NAMED = 6
"""So many clients are named one by one."""


@dataclass(frozen=True)
class Words:
    says: Says
    cause: str
    remedies: Sequence[str]
    who: Callable[[Sequence[int]], str]
    when: Callable[[Sequence[int]], str]

    def sentence(self, form: str) -> str:
        return self.says if isinstance(self.says, str) else self.says[form]


def words_of(rule: Rule, language: str) -> Words:
    if language == "en":
        return Words(rule.says, rule.cause, [remedy.text for remedy in rule.remedies], _who, _when)
    if language == "zh":
        translated = CHINESE.get(rule.code)
        if translated is None:  # a plugin's rule, which says it in English
            return Words(rule.says, rule.cause, [remedy.text for remedy in rule.remedies], _who_zh, _when_zh)
        return Words(translated.says, translated.cause, translated.remedies, _who_zh, _when_zh)
    raise ConfigError(f"there are no findings in '{language}'", fix=f"one of {', '.join(LANGUAGES)}")


def _who(clients: Sequence[int]) -> str:
    """Who it concerns.

    >>> _who([3]), _who([0, 2]), _who(range(9)), _who([])
    ('client 3', 'clients 0, 2', '9 clients', 'the server')
    """
    if not clients:
        return "the server"
    named = ", ".join(map(str, clients))
    return f"client {named}" if len(clients) == 1 else f"clients {named}" if len(clients) <= NAMED else _many(clients)


def _many(clients: Sequence[int]) -> str:
    return f"{len(clients)} clients"


def _when(steps: Sequence[int]) -> str:
    """Checkpoints as people count them, from 1.

    >>> _when([3]), _when([3, 5, 9])
    ('checkpoint 4', 'checkpoints 4 to 10')
    """
    if not steps:
        return "the start"
    first, last = steps[0] + 1, steps[-1] + 1
    return f"checkpoint {first}" if first == last else f"checkpoints {first} to {last}"


def _who_zh(clients: Sequence[int]) -> str:
    if not clients:
        return "服务器"
    return f"{len(clients)} 个客户端" if len(clients) > NAMED else f"客户端 {'、'.join(map(str, clients))}"


def _when_zh(steps: Sequence[int]) -> str:
    if not steps:
        return "开始时"
    first, last = steps[0] + 1, steps[-1] + 1
    return f"第 {first} 个检查点" if first == last else f"第 {first} 至 {last} 个检查点"


def evidence(row: Mapping[str, Any], label: Mapping[str, str]) -> str:
    """One row of evidence, such as "client 3, checkpoints 4 to 10: first 6.288, last 2.098e+06"."""
    who = label["server"] if row["client"] is None else label["client"].format(client=row["client"])
    rest = {key: value for key, value in row.items() if key not in {"client", "steps"}}
    numbers = ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in rest.items()
    )
    if not row["steps"]:
        return f"{who}: {numbers}"
    return label["row"].format(who=who, first=row["steps"][0] + 1, last=row["steps"][-1] + 1, numbers=numbers)


def healing(healed: Mapping[str, Any], label: Mapping[str, str]) -> str:
    """When a guard healed it, and how; nothing where none did."""
    if not healed:
        return ""
    shown = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in healed["changes"].items()}
    changes = " ".join(f"{key}={value}" for key, value in shown.items())
    return label["healed"].format(step=healed["step"] + 1, changes=changes)
