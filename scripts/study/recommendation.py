"""Does content help a federated recommender, and is it the content? MovieLens-1M, equal rounds for every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np
from scripts.study import figures
from scripts.study.page import Claim, claims, table
from scripts.study.read import HIT, Study, spread

from equipoise.evaluate.intervals import paired

TITLE = "Federated recommendation: MovieLens-1M, the 1000 most active users"
SWEEPS = ("studies/recommendation", "studies/recommendation-references")
SHOWN = ("hr@10/full", "ndcg@10/full", "hr@10/uni100", "ndcg@10/uni100")
REFERENCES = ("chance", "itempop", "markov")
CONTROLS = {
    "+ visual": "visual, shuffled rows",
    "+ text": "text, shuffled rows",
    "both": "both, shuffled rows",
}
STEPS = {"+ memory": "both", "+ global memory": "+ memory"}
"""What a row adds to another."""
IDS, FULL, CEILING, FLOOR = "ids alone", "+ global memory", "centralised", "everybody alone"


def parts(study: Study) -> list[str]:
    federated = [label for label in study.labels if label not in (CEILING, FLOOR)]  # the others count in passes
    name = {"hr@10/full/validation": "validation"}
    return [
        *figures_and_gains(study, FULL, STEPS | CONTROLS),
        claims(_claims(study)),
        figures.curves(study, federated, name, "figures/recommendation.svg", "HR@10, full"),
    ]


def figures_and_gains(study: Study, full: str, others: Mapping[str, str]) -> list[str]:
    """Every row beside what needs no training; what ids and the full model gain over the Markov table, what rows gain
    over ids, and over the other row named with them."""
    first = study.labels[0]
    beside = [[who, *(f"{fmean(study.server(first, f'{name}/{who}')):.3f}" for name in SHOWN)] for who in REFERENCES]
    rows = [[study.named(label), *(_figure(study, label, name) for name in SHOWN)] for label in study.labels]
    found = [
        "On test, of the round that validation chose; in brackets the mean 95 % bootstrap interval over users. Chance, "
        "ItemPop and Markov are means over the seeds' lists of a hundred.",
        table(["", *SHOWN], [*beside, *rows]),
    ]
    wanted = [(label, IDS) for label in study.labels if label != IDS] + list(others.items())
    gains = [
        [f"{label} − markov", *(over_markov(study, label, name) for name in SHOWN)]
        for label in (IDS, full)
        if label in study.labels
    ]
    pairs = [(ours, theirs) for ours, theirs in wanted if study.common(ours, theirs)]
    gains += [[f"{a} − {b}", *(gain(study, a, b, name) for name in SHOWN)] for a, b in pairs]
    return [
        *found,
        "Differences between two rows with the same seeds, mean and range over seeds; in brackets, for HR, the "
        "95 % bootstrap interval over users of what each gains on average over seeds whose hits both rows kept. "
        "Shuffled rows are the same features given to the wrong items: what is left against them is content.",
        table(["", *SHOWN], gains),
    ]


def _figure(study: Study, label: str, name: str) -> str:
    ends = [study.server(label, f"{name}/{end}") for end in ("low", "high")]
    return f"{spread(study.server(label, name))} [{fmean(ends[0]):.3f}, {fmean(ends[1]):.3f}]"


def gain(study: Study, ours: str, theirs: str, name: str) -> str:
    """Over the seeds that both have: mean, range, and the interval over users whose hits both kept."""
    seeds, hit = study.common(ours, theirs), _hit(name)
    gains = [study.at(ours, s, name, None) - study.at(theirs, s, name, None) for s in seeds]
    return _told(gains, [[study.each(label, s, hit) for label in (ours, theirs)] for s in seeds])


def over_markov(study: Study, label: str, name: str) -> str:
    """The same against the table, which is one for all rows of a seed."""
    seeds, hit = study.common(label, label), _hit(name)
    gains = [study.at(label, s, name, None) - study.at(label, s, f"{name}/markov", None) for s in seeds]
    return _told(gains, [[study.each(label, s, hit), study.each_of(s, f"{hit}/markov")] for s in seeds])


def _hit(name: str) -> str:
    return name.replace("hr@10", HIT)


def _told(gains: Sequence[float], hits: Sequence[Sequence[list[float]]]) -> str:
    kept = [pair for pair in hits if all(pair)]
    interval = ""
    if kept:
        of_users = paired(*np.mean(kept, axis=0), seed=0)
        interval = f" [{of_users.low:+.3f}, {of_users.high:+.3f}]"
    over_seeds = f" ({min(gains):+.3f} … {max(gains):+.3f})" if len(gains) > 1 else ""
    return f"{fmean(gains):+.3f}{over_seeds}{interval}"


def _claims(study: Study) -> list[Claim]:
    found = []
    row = FULL if FULL in study.labels else IDS
    who = study.named(row)
    for name, floor in (("hr@10/full", None), ("hr@10/uni100", 0.65)):
        value, markov = fmean(study.server(row, name)), fmean(study.server(row, f"{name}/markov"))
        told = f"{value:.3f} against {markov:.3f}, {over_markov(study, row, name)}"
        found.append(Claim(f"{who}: mean {name} above the Markov table", told, value > markov))
        if floor is not None:
            found.append(Claim(f"{who}: {name} at least {floor}", f"{value:.3f}", value >= floor))
    if CEILING in study.labels:
        for name, share in (("hr@10/full", 0.9), ("hr@10/uni100", 0.95)):
            ours, ceiling = (fmean(study.server(label, name)) for label in (IDS, CEILING))
            text = f"{IDS}: {name} at least {share:.0%} of {CEILING} with as many passes over the data"
            found.append(Claim(text, f"{ours:.3f} of {ceiling:.3f}, {ours / ceiling:.0%}", ours >= share * ceiling))
    return found
