"""What a round of the recommender costs: ids alone and the full model, beside the plain design.

MovieLens-1M, the 1000 most active users, 100 clients a round, one epoch over every next-item position, D 128, softmax
over every item not met before, on worker processes of one thread each. The plain design is what one writes first: one
client after another, one prefix of the history per sample, the experts called candidate by candidate, negatives drawn
and memory rows written one by one; the fifth original report's has 100 negatives by default, and 4 in its launcher. It
is timed on two clients of median length with as many threads as there are workers, and counts for a hundred.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.bench.measure import Goal, Result
from equipoise.client.histories import HistoryWork
from equipoise.config.blocks import InteractionOptions
from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.core.errors import EquipoiseError
from equipoise.core.machine import cores
from equipoise.engine.history_site import HistorySite
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.models.experts import Expert
from equipoise.models.recommender import Recommender
from equipoise.models.windows import Windows
from equipoise.run.build import Federation, build, load_histories, make_engine
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
    "client.batch=2",
    "engine.together=8",
    "rounds=10",
]
FULL = ["model.keys=64"]
IDS = ["model=sasrec", "balance=none"]
NEGATIVES, BATCH, FEW, KEPT = (100, 4), 32, 2, 50


ROUND, EVALUATION = {"ids": 5.0, "full": 15.0}, 2.0
"""Seconds that a round and an evaluation may take."""


def run(repeats: int) -> Iterator[Result]:
    require_data()
    engine = ["engine=processes", f"engine.workers={cores()}", "engine.threads=1"]
    torch.set_num_threads(cores())
    seconds: dict[str, list[float]] = {}
    for name, kind in (("ids", [*SETTING, *IDS]), ("full", [*SETTING, *FULL])):
        federation = build(load("rec/feddmmr", [*kind, *engine]).config)
        seconds[name] = timed_rounds(federation, repeats)
    clients = median_clients(federation)
    for negatives in NEGATIVES:
        plain = [100 * plain_client(federation, client, negatives) for client in clients]
        middle = statistics.median(plain)
        ratios = [middle / each for each in seconds["full"]]
        what = (
            f"a round of 100 clients, full model; against one prefix and one candidate at a time, {negatives} negatives"
        )
        sides = (statistics.median(seconds["full"]), middle)
        yield Result(
            f"rec/plain-{negatives}", what, statistics.median(ratios), (min(ratios), max(ratios)), *sides,
            Goal("at least", 20.0), note="losses differ by design: the plain one draws its negatives",
        )  # fmt: skip
    for name, most in ROUND.items():
        yield _within(f"rec/{name}", f"a round of 100 clients, {name}: seconds, against the goal", seconds[name], most)
    evaluations = [timed_evaluation(federation) for _ in range(repeats)]
    yield _within("rec/evaluation", "1000 users, both protocols: seconds, against the goal", evaluations, EVALUATION)


def _within(name: str, what: str, seconds: Sequence[float], most: float) -> Result:
    middle = statistics.median(seconds)
    spread = (min(seconds) / most, max(seconds) / most)
    return Result(name, what, middle / most, spread, middle, most, Goal("at most", 1.0))


def require_data() -> None:
    """Left out where MovieLens-1M and its features are not at hand."""
    try:
        load_histories(*_asked(), None)
    except EquipoiseError as error:
        raise LookupError(f"MovieLens-1M with item features is not here: {error.what}") from error


def _asked() -> tuple[Config, InteractionOptions]:
    config = load("rec/feddmmr", [*SETTING, *FULL]).config
    assert isinstance(config.data, InteractionOptions)
    return config, config.data


def timed_rounds(federation: Federation, rounds: int) -> list[float]:
    """Seconds that the clients of a round take, after one round to warm up."""
    engine, snapshot, times = make_engine(federation.site), first_snapshot(federation), []
    for step in range(rounds + 1):
        tasks = plan(federation, snapshot, step)
        began = time.perf_counter()
        list(engine.map(tasks))
        times.append(time.perf_counter() - began)
    engine.close()
    return times[1:]


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
    return [int(client) for client in np.argsort(sizes)[middle : middle + FEW]]


def plain_client(federation: Federation, client: int, negatives: int) -> float:
    """Seconds of one epoch: every prefix on its own, every candidate on its own."""
    assert isinstance(federation.site, HistorySite)
    model, work = federation.site.parts()
    items, n_items = federation.site.history(client, 0).items, federation.site.histories.interactions.n_items
    draw, optimiser = np.random.default_rng(client), torch.optim.SGD(model.parameters(), 1e-3)
    kept: list[int] = items[:KEPT].tolist()
    began = time.perf_counter()
    order = draw.permutation(np.arange(1, len(items)))
    for first in range(0, len(order), BATCH):
        ends = order[first : first + BATCH]
        chosen = torch.tensor([[items[end], *_unlike(items[end], negatives, n_items, draw)] for end in ends])
        scores = plain_scores(model, items, ends, chosen, torch.tensor(kept[-20:]))
        losses = F.cross_entropy(scores, torch.zeros(len(ends), dtype=torch.int64), reduction="none")
        optimiser.zero_grad()
        losses.mean().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        _remember(kept, items[ends], losses.detach(), work)
    return time.perf_counter() - began


def _unlike(target: int, count: int, n_items: int, draw: np.random.Generator) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        one = int(draw.integers(n_items))
        found += [one] if one != target else []
    return found


def _remember(kept: list[int], items: np.ndarray, losses: Tensor, work: HistoryWork) -> None:
    """Sample by sample: what surprises and is new to every row in memory is kept."""
    assert work.features is not None
    for item, loss in zip(items.tolist(), losses, strict=True):
        nearest = max(float(work.features[item] @ work.features[row]) for row in kept[-KEPT:])
        if loss.item() > 0.3 and nearest < 1:
            kept.append(item)


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
        read = [_expert(expert, candidate, memory) for expert in model.experts.values() if isinstance(expert, Expert)]
        fused = states + torch.stack(read).sum(0)
        columns.append((fused * model.items(candidate)).sum(1) + model.items.bias[candidate])
    return torch.stack(columns, 1)


def _expert(expert: Expert, candidate: Tensor, memory: Tensor) -> Tensor:
    rows = expert.table[memory]
    attention = (expert.table[candidate] @ expert.query.T @ (rows @ expert.key.T).T).softmax(1)
    return expert.turned(expert.norm(attention @ rows @ expert.value.T)) / 2
