"""What a report may claim about the headline metric: which method leads, and whether the numbers carry it.

A method leads another if the 95 % interval of their paired difference over seeds leaves out zero; it is clear of others
over several settings if Friedman's test finds a difference and its mean rank is better by more than the critical
difference (see `report/ranks.py`). Everything else is said to be unclear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isclose
from statistics import fmean

from equipoise.report.methods import SweepRow
from equipoise.report.sentence import MOST, Quoted, metric_text, value_text
from equipoise.report.statistics import paired
from equipoise.report.words import Say


def claims(quoted: Quoted, say: Say) -> list[str]:
    """Clauses about the headline metric; none if nothing was scored."""
    scored = [row for row in quoted.rows if quoted.values(row)]
    if not scored:
        return []
    if len(quoted.rows) == 1:
        metric = metric_text(scored[0].runs[0].headline, say)
        return [say("quote.final", metric=metric, value=value_text(quoted, scored[0], say))]
    return [*_leaders(quoted, scored, say), *_ranks(quoted, say)]


def _leaders(quoted: Quoted, scored: Sequence[SweepRow], say: Say) -> list[str]:
    """The row with the highest mean of each setting, among the rows with the metric that most rows have."""
    metric = Counter(row.runs[0].headline for row in scored).most_common(1)[0][0]
    same = [row for row in scored if row.runs[0].headline == metric]
    settings = list(dict.fromkeys(row.setting for row in same))
    best = [_leader(quoted, [row for row in same if row.setting == setting], say) for setting in settings[:MOST]]
    more = [say("quote.more_settings", n=len(settings) - MOST)] if len(settings) > MOST else []
    key = "quote.final" if len({row.method for row in quoted.rows}) == 1 else "quote.highest"
    return [say(key, metric=metric_text(metric, say), value=say("quote.semicolon").join([*best, *more]))]


def _leader(quoted: Quoted, rows: Sequence[SweepRow], say: Say) -> str:
    ordered = sorted(rows, key=lambda row: -fmean(quoted.values(row).values()))
    best, is_one = ordered[0], len({row.method for row in quoted.rows}) == 1
    value = value_text(quoted, best, say)
    value = value if is_one else f"{best.method} {value}"
    where = say("quote.at", value=value, setting=best.setting) if best.setting else value
    return where + (_lead(quoted, best, ordered[1], say) if len(ordered) > 1 else "")


def _lead(quoted: Quoted, best: SweepRow, second: SweepRow, say: Say) -> str:
    gap = paired(quoted.values(best), quoted.values(second))
    if gap is None:
        return say("quote.unpaired", second=second.method)
    low, mean, high = (100 * value for value in (gap.low, gap.mean, gap.high))
    key = "quote.ahead" if gap.low > 0 else "quote.level"
    return say(key, second=second.method, mean=mean, low=low, high=high)


def _ranks(quoted: Quoted, say: Say) -> list[str]:
    found = quoted.ranking
    if found is None:
        return []
    first, rank = next(iter(found.ranks.items()))
    best = ", ".join(name for name, own in found.ranks.items() if isclose(own, rank))
    behind = [name for name in found.ranks if found.is_apart(first, name)]
    key = "quote.rank_clear" if behind else "quote.rank_unclear"
    return [say(key, best=best, rank=rank, behind=", ".join(behind), n=found.n_blocks, p=found.p)]
