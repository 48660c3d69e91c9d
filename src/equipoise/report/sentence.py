"""The sentence at the top of a report: what was run and what came out, for a paper to quote.

It holds method, data, clients, skew, rounds, the headline with its 95 % interval over seeds, bytes per client and a
verdict. `claims` says which method leads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from equipoise.report.bytes import bytes_text
from equipoise.report.comparison import Comparison
from equipoise.report.content import Configuration, first, sick
from equipoise.report.methods import Finals, SweepRow
from equipoise.report.ranks import Ranking
from equipoise.report.statistics import half_width
from equipoise.report.words import Say
from equipoise.store.records import PartitionRecord, Run

MOST = 3
"""Different texts of one kind that a sentence lists."""


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """What the sentence is made from."""

    rows: Sequence[SweepRow]
    comparison: Comparison | None
    finals: Finals
    over_users: Mapping[str, tuple[float, float]]
    """Run id → 95 % interval over users, if one was recorded."""
    partitions: Mapping[str, PartitionRecord]
    configurations: Sequence[Configuration]
    ranking: Ranking | None = None

    @property
    def runs(self) -> list[Run]:
        return [run for row in self.rows for run in row.runs]

    def values(self, row: SweepRow) -> dict[int, float]:
        """Seed → final value."""
        return {run.seed: self.finals[run.run_id] for run in row.runs if run.run_id in self.finals}


def sentence(quoted: Quoted, results: Sequence[str], say: Say) -> str:
    """The sentence; `results` are its clauses about the headline metric."""
    n_methods = len({row.method for row in quoted.rows})
    clauses = [*(results or [say("quote.unscored")]), *_traffic(quoted, say), *_verdict(quoted, say)]
    return say(
        "quote.one" if len(quoted.rows) == 1 else "quote.settings" if n_methods == 1 else "quote.many",
        method=_method(quoted.runs[0], say),
        methods=n_methods,
        runs=len(quoted.runs),
        data=_listed(run.config["data"]["name"] for run in quoted.runs),
        faced=say("quote.comma").join(
            filter(None, [*_faced(quoted, say), _listed(_course(run, say) for run in quoted.runs)])
        ),
        clauses=say("quote.semicolon").join(clauses),
    )


def value_text(quoted: Quoted, row: SweepRow, say: Say) -> str:
    """The mean over seeds with its interval; of a single run the interval over users, if there is one."""
    held = quoted.values(row)
    mean = f"{100 * fmean(held.values()):.2f} %"
    if len(held) > 1:
        return say("quote.seeds", mean=mean, half=100 * half_width(list(held.values())), n=len(held))
    (run_id,) = (run.run_id for run in row.runs if run.run_id in quoted.finals)
    low, high = quoted.over_users.get(run_id, (math.nan, math.nan))
    return say("quote.seed", mean=mean) if math.isnan(low) else say("quote.users", mean=mean, low=low, high=high)


def metric_text(metric: str, say: Say) -> str:
    """The metric in words, or its name."""
    known = ("accuracy/merged", "accuracy/clients")
    return say(f"quote.{metric}") if metric in known else metric


def _method(run: Run, say: Say) -> str:
    policy = str(run.config["balance"]["name"])
    return run.method if policy == "none" else say("quote.policy", method=run.method, policy=policy)


def _faced(quoted: Quoted, say: Say) -> list[str]:
    """Clients, how the data is divided among them, and how unequal their labels are."""
    found = [quoted.partitions[run.partition] for run in quoted.runs if run.partition]
    if not found:
        return []
    clients = _listed(f"{n}" for n in sorted({each.n_clients for each in found}))
    distances = [each.skew["emd"] for each in found if each.skew.get("emd") is not None and len(each.counts[0]) > 1]
    low, high = (f"{end(distances):.2f}" if distances else "" for end in (min, max))
    skew = say("quote.skew", emd=low if low == high else f"{low}–{high}") if distances else ""
    return [say("quote.clients", n=clients), _listed(map(_division, found)), skew]


def _course(run: Run, say: Say) -> str:
    epochs = run.config["client"]["epochs"]
    if run.config["communication"] == "one-shot":
        return say("quote.one-shot", epochs=epochs)
    fraction = run.config["server"]["fraction"]
    part = "" if fraction == 1 else say("quote.fraction", share=f"{100 * fraction:.3g} %")
    return say("quote.rounds", rounds=run.config["rounds"], epochs=epochs) + part


def _division(found: PartitionRecord) -> str:
    return f"{found.name} α {found.options['alpha']:g}" if "alpha" in found.options else found.name


def _traffic(quoted: Quoted, say: Say) -> list[str]:
    """Bytes per client of a whole run, mean over clients and seeds."""
    if quoted.comparison is None:
        return []
    n_clients = {run.run_id: quoted.partitions[run.partition].n_clients for run in quoted.runs if run.partition}
    lines = [line for line in quoted.comparison.lines if line.runs[0] in n_clients]
    if not lines:
        return []
    up, down = (sorted(getattr(line, way) / n_clients[line.runs[0]] for line in lines) for way in ("up", "down"))
    return [say("quote.traffic", up=_span(up, say), down=_span(down, say))]


def _span(sizes: Sequence[float], say: Say) -> str:
    low, high = bytes_text(sizes[0]), bytes_text(sizes[-1])
    return low if low == high else say("quote.span", low=low, high=high)


def _verdict(quoted: Quoted, say: Say) -> list[str]:
    runs = quoted.runs
    open_runs = [run for run in runs if run.status != "done"]
    unfinished = [say("quote.unfinished", n=len(open_runs), of=len(runs))] if open_runs else []
    found = first(quoted.configurations)
    if found is None:
        return [*unfinished, say("quote.healthy")]
    return [*unfinished, say("quote.sick", n=len(sick(quoted.configurations)), of=len(runs), code=found.code)]


def _listed(texts: Iterable[str]) -> str:
    """Different texts, each once; of many the first ones."""
    found = list(dict.fromkeys(texts))
    return " / ".join([*found[:MOST], *(["…"] if len(found) > MOST else [])])
