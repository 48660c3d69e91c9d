"""What a round of the recommender costs: ids alone and the full model, beside the plain design.

    EQUIPOISE_DATA=… python scripts/bench_rec.py [--rounds 3] [--threads 2]

MovieLens-1M, the 1000 most active users, 100 clients a round, one epoch over every next-item position, D 128, full
softmax. The plain design is what one writes first: one client after another, one prefix of the history per sample, the
experts called candidate by candidate, a handful of negatives. It is timed on a few clients of median length in the same
process, and counts for a hundred.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.config.loader import load
from equipoise.engine.history_site import HistorySite
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.models.experts import Expert
from equipoise.models.recommender import Recommender
from equipoise.models.windows import Windows
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.loop import first_snapshot, plan
from equipoise.server.predict import Merged

SETTING = [
    "data=movielens-1m",
    "data.subset=top",
    "data.users=1000",
    "data.visual=ml1m_poster_effnetlite2.npz/feat512",
    "data.text=ml1m_text_minilm.npz/title_genre_plot",
    "model.width=128",
    "model.blocks=2",
    "model.heads=4",
    "model.length=50",
    "server.fraction=0.1",
    "rounds=10",
]
FULL = ["model.keys=64"]
IDS = ["model=sasrec", "balance=none"]
NEGATIVES, BATCH, FEW = 4, 32, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    threads = [f"engine.threads={given.threads}"]
    seconds = {}
    for name, kind in (("ids", [*SETTING, *IDS]), ("full", [*SETTING, *FULL])):
        federation = build(load("rec/feddmmr", [*kind, *threads]).config)
        seconds[name], loss = timed_rounds(federation, given.rounds)
        print(f"{name}: {seconds[name]:.2f} s a round of 100 clients, loss {loss:.3f}")
    print(f"evaluation of 1000 users, both protocols: {timed_evaluation(federation):.2f} s")
    plain = statistics.median(plain_client(federation, client) for client in median_clients(federation)) * 100
    print(f"plain design: {plain:.0f} s a round; ratio to the full model {plain / seconds['full']:.0f}")
    print(
        f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB, threads {given.threads}"
    )


def timed_rounds(federation: Federation, rounds: int) -> tuple[float, float]:
    """Median seconds that the clients of a round take, after one round to warm up; and their last mean loss."""
    engine, snapshot, times, loss = make_engine(federation.site), first_snapshot(federation), [], 0.0
    for step in range(rounds + 1):
        tasks = plan(federation, snapshot, step)
        began = time.perf_counter()
        results = list(engine.map(tasks))
        times.append(time.perf_counter() - began)
        loss = statistics.fmean(result.metrics["loss/rec"] for result in results)  # type: ignore[union-attr]
    return statistics.median(times[1:]), loss


def timed_evaluation(federation: Federation) -> float:
    """Of a second evaluation: the first also reads what clients remember that were never asked."""
    assert isinstance(federation.judge, RankJudge)
    merged = Merged(federation.start, ())
    federation.judge.observe(merged, {}, 9)
    began = time.perf_counter()
    federation.judge.observe(merged, {}, 9)
    return time.perf_counter() - began


def median_clients(federation: Federation) -> Sequence[int]:
    sizes = [int(federation.site.counts(client).sum()) for client in range(federation.n_clients)]
    middle = len(sizes) // 2
    return np.argsort(sizes)[middle : middle + FEW].tolist()


def plain_client(federation: Federation, client: int) -> float:
    """Seconds of one epoch: every prefix on its own, every candidate on its own."""
    assert isinstance(federation.site, HistorySite)
    model, _ = federation.site.parts()
    items = federation.site.history(client, 0).items
    draw, optimiser = np.random.default_rng(client), torch.optim.SGD(model.parameters(), 1e-3)
    memory = torch.from_numpy(items[:20])
    began = time.perf_counter()
    order = draw.permutation(np.arange(1, len(items)))
    for first in range(0, len(order), BATCH):
        ends = order[first : first + BATCH]
        negatives = torch.from_numpy(
            draw.integers(0, federation.site.histories.interactions.n_items, (len(ends), NEGATIVES))
        )
        targets = torch.from_numpy(items[ends])[:, None]
        scores = plain_scores(model, items, ends, torch.cat([targets, negatives], 1), memory)
        optimiser.zero_grad()
        F.cross_entropy(scores, torch.zeros(len(ends), dtype=torch.int64)).backward()
        optimiser.step()
    return time.perf_counter() - began


def plain_scores(model: Recommender, items: np.ndarray, ends: np.ndarray, chosen: Tensor, memory: Tensor) -> Tensor:
    """[B, candidates], one candidate after another."""
    length, none = model.options.length, torch.empty(0, dtype=torch.int64)
    padded = np.zeros((len(ends), length), dtype=np.int64)
    for row, end in enumerate(ends):
        prefix = items[max(0, end - length) : end]
        padded[row, : len(prefix)] = prefix
    inputs = torch.from_numpy(padded)
    blank = torch.zeros(len(ends), 1, dtype=torch.int64)
    never = torch.zeros(len(ends), 1, dtype=torch.bool)
    told = Windows(
        inputs, inputs, inputs >= 0, blank, never, blank, never, torch.zeros(2), torch.empty(0), none, none, none
    )
    last = torch.from_numpy(np.minimum(ends, length) - 1)
    states = model.encode(told)[torch.arange(len(ends)), last]
    columns = []
    for k in range(chosen.shape[1]):
        candidate = chosen[:, k]
        fused = states + sum(_expert(expert, candidate, memory) for expert in model.experts.values())  # type: ignore[arg-type]
        columns.append((fused * model.items(candidate)).sum(1) + model.items.bias[candidate])
    return torch.stack(columns, 1)


def _expert(expert: Expert, candidate: Tensor, memory: Tensor) -> Tensor:
    rows = expert.table[memory]
    attention = (expert.table[candidate] @ expert.query.T @ (rows @ expert.key.T).T).softmax(1)
    return expert.turned(expert.norm(attention @ rows @ expert.value.T)) / 2


if __name__ == "__main__":
    main()
