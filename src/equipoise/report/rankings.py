"""Ranking metrics of one run under both protocols, beside baselines that only count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.report.words import Say

HEADLINE = "hr@10/full"
FIGURES = tuple(f"{kind}/{protocol}" for protocol in ("full", "uni100") for kind in ("hr@10", "ndcg@10", "mrr"))
BESIDE = ("markov", "itempop", "chance")


@dataclass(frozen=True)
class Rankings:
    """A table of metrics without empty columns. `floor` says whether the headline beats the Markov baseline, if that
    was measured."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    floor: str


def rankings(metrics: Mapping[str, float], is_stream: bool, say: Say) -> Rankings | None:
    """The table from the server's final metrics; None for a run without ranking metrics."""
    names = [name for name in FIGURES if name in metrics]
    if not names:
        return None
    columns = {
        say("last_slice" if is_stream else "test"): names,
        say("value"): [f"{metrics[name]:.4f}" for name in names],
        "95 %": [_interval(metrics, name) for name in names],
    }
    for who in BESIDE:
        found = (metrics.get(f"{name}/{who}") for name in names)
        columns[say(who)] = ["" if value is None else f"{value:.4f}" for value in found]
    columns = {title: cells for title, cells in columns.items() if any(cells)}
    return Rankings(list(columns), list(zip(*columns.values(), strict=True)), _floor(metrics, say))


def _interval(metrics: Mapping[str, float], name: str) -> str:
    low, high = metrics.get(f"{name}/low"), metrics.get(f"{name}/high")
    return f"{low:.3f} … {high:.3f}" if low is not None and high is not None else ""


def _floor(metrics: Mapping[str, float], say: Say) -> str:
    if f"{HEADLINE}/over_markov" not in metrics:
        return ""
    mean, low, high = (100 * metrics[f"{HEADLINE}/over_markov{end}"] for end in ("", "/low", "/high"))
    where = "above" if low > 0 else "below" if high < 0 else "level"
    return say(f"floor.{where}", metric=HEADLINE, mean=mean, low=low, high=high)
