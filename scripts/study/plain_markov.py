"""The floor without its root: a Markov table of plain counts, and what federated models are above it, user by user.

python -m scripts.study.plain_markov          needs MovieLens-1M and the study's records; trains nothing
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scripts.study import records
from scripts.study.page import table
from scripts.study.read import HIT
from scripts.study.recommendation import FULL, IDS

from equipoise.config.schema import Config
from equipoise.evaluate.intervals import paired
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.run.build import build
from equipoise.run.grid import load_grid
from equipoise.server.markov import count_transitions, score_next

PROTOCOLS = ("full", "uni100")


def main() -> None:
    cells = load_grid("studies/recommendation", ["scale=small"]).cells
    study = records.study("recommendation", cells)
    plain = [hits(cell.config) for cell in cells if cell.label == IDS]
    floor = {protocol: np.mean([of[protocol] for of in plain], axis=0) for protocol in PROTOCOLS}
    rows = [["markov, plain counts", *(f"{floor[protocol].mean():.3f}" for protocol in PROTOCOLS)]]
    for label in (IDS, FULL):
        ours = ([study.each(label, seed, f"{HIT}/{protocol}") for seed in study.seeds] for protocol in PROTOCOLS)
        rows.append([f"{label} above it", *_gains([np.mean(of, axis=0) for of in ours], list(floor.values()))])
    print(table(["", *(f"hr@10/{protocol}" for protocol in PROTOCOLS)], rows))


def hits(config: Config) -> dict[str, np.ndarray]:
    """Protocol → 1 for users whose test item is among the first ten."""
    judge = build(config).judge
    assert isinstance(judge, RankJudge)
    target, data = judge.target("test"), judge.histories.interactions
    counts = count_transitions(data.items, data.bounds, judge.histories.train_end, data.n_items)
    scores = score_next(counts, data.items, data.bounds[target.shown.users], target.shown.at, power=1.0)
    return {protocol: (ranks <= 10).astype(float) for protocol, ranks in target.ranks(scores).items()}


def _gains(ours: list[np.ndarray], theirs: list[np.ndarray]) -> Iterator[str]:
    for found in (paired(a, b, seed=0) for a, b in zip(ours, theirs, strict=True)):
        yield f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


if __name__ == "__main__":
    main()
