"""Mean ranks of methods over settings × seeds, with the critical difference (see `report/ranks.py`).

Methods are ranked by the final value of their headline metric. Those with another metric than most, or without a
scored run, are left out by name. Where a test could not say anything, a sentence says why there is no diagram.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from equipoise.report.figure import RankChart
from equipoise.report.methods import Finals, SweepRow
from equipoise.report.ranks import FEWEST_BLOCKS, FEWEST_METHODS, Ranking, ranking
from equipoise.report.words import Say


def ranked(rows: Sequence[SweepRow], finals: Finals, say: Say) -> tuple[Ranking | None, str]:
    """(the ranking, the methods that are left out); without a ranking the text says why."""
    blocks = _blocks(rows, finals)
    out = [method for method in dict.fromkeys(row.method for row in rows) if method not in blocks]
    common = set.intersection(*(set(of) for of in blocks.values())) if blocks else set()
    left = say("left_out", methods=", ".join(out)) if out else ""
    if len(blocks) < FEWEST_METHODS:
        return None, say("few_methods", n=len(blocks), least=FEWEST_METHODS)
    if len(common) < FEWEST_BLOCKS:
        return None, say("few_blocks", n=len(common), least=FEWEST_BLOCKS)
    return ranking({method: [of[block] for block in sorted(common)] for method, of in blocks.items()}), left


def critical_difference(found: Ranking, left: str, colours: Mapping[str, int], say: Say) -> RankChart:
    apart = [f"{a} > {b} (p {p:.2g})" for (a, b), p in found.pairs.items() if p < 0.05]
    test = say("friedman", k=len(found.ranks), n=found.n_blocks, chi2=found.chi2, p=found.p, cd=found.critical)
    pairs = say("holm", pairs=", ".join(apart)) if apart else say("holm_none")
    return RankChart(
        key="critical-difference",
        x=say("mean_rank"),
        ranks=found.ranks,
        critical=found.critical,
        groups=found.groups,
        colours={name: colours[name] for name in found.ranks},
        note=say("sentences").join(filter(None, [test, pairs, left])),
    )


def _blocks(rows: Sequence[SweepRow], finals: Finals) -> dict[str, dict[tuple[str, int], float]]:
    """Method → (setting, seed) → final value, of the methods with the metric that most of them have."""
    metrics = {row.method: row.runs[0].headline for row in rows if any(run.run_id in finals for run in row.runs)}
    usual = [metric for metric, _ in Counter(metrics.values()).most_common(1)]
    kept = [row for row in rows if metrics.get(row.method) in usual]
    blocks: dict[str, dict[tuple[str, int], float]] = {}
    for row in kept:
        own = {(row.setting, run.seed): finals[run.run_id] for run in row.runs if run.run_id in finals}
        blocks.setdefault(row.method, {}).update(own)
    return blocks
