"""The floor: Markov tables of counts and of their roots, and what federated models are above them, user by user.

python -m scripts.study.floor          needs MovieLens-1M and the study's records; trains nothing
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scripts.study import records
from scripts.study.page import table
from scripts.study.read import HIT
from scripts.study.recommendation import FULL, IDS

from equipoise.config.schema import Config
from equipoise.evaluate.intervals import paired
from equipoise.evaluate.markov import count_transitions, score_next
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.run.build import build
from equipoise.run.grid import load_grid

PROTOCOLS = ("full", "uni100")
POWERS = {"roots of counts, as everywhere": 0.5, "plain counts": 1.0}


def main() -> None:
    cells = load_grid("studies/recommendation", ["scale=small"]).cells
    study = records.study("recommendation", cells)
    seeds = [cell.config for cell in cells if cell.label == IDS]
    rows = []
    for name, power in POWERS.items():
        floor = [np.mean(of, axis=0) for of in zip(*(hits(config, power) for config in seeds), strict=True)]
        rows.append([f"markov, {name}", *(f"{of.mean():.3f}" for of in floor)])
        for label in (IDS, FULL):
            ours = [[study.each(label, config.seed, f"{HIT}/{p}") for config in seeds] for p in PROTOCOLS]
            rows.append([f"{label} above it", *_gains([np.mean(of, axis=0) for of in ours], floor)])
    print(table(["", *(f"hr@10/{protocol}" for protocol in PROTOCOLS)], rows))


def hits(config: Config, power: float) -> list[np.ndarray]:
    """Under each protocol 1 for users whose test item is among the first ten."""
    judge = build(config).judge
    assert isinstance(judge, RankJudge)
    target, data = judge.target("test"), judge.histories.interactions
    counts = count_transitions(data.items, data.bounds, judge.histories.train_end, data.n_items)
    ranks = target.ranks(
        score_next(counts, data.items, data.bounds[target.positions.users], target.positions.at, power)
    )
    return [(ranks[protocol] <= 10).astype(float) for protocol in PROTOCOLS]


def _gains(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> list[str]:
    found = (paired(a, b, seed=0) for a, b in zip(ours, theirs, strict=True))
    return [f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]" for one in found]


if __name__ == "__main__":
    main()
