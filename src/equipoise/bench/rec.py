"""The cost of one round of the recommender, in seconds and against the plain design.

MovieLens-1M, the 1000 most active users, 100 clients per round, one epoch over all next-item positions, D 128, softmax
over all items not met before, on worker processes with one thread each. The plain design trains one client after
another, with one prefix of the history per sample and one candidate at a time. In that comparison both sides use the
same 100 negatives. The plain side is timed on two clients of median length, with as many threads as there are workers,
and scaled to the samples of all clients.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch

from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, paired
from equipoise.bench.memory import peak, require_linux
from equipoise.bench.ours import where
from equipoise.bench.plain_recommender import plain_recipe
from equipoise.client.train import train
from equipoise.config.blocks import InteractionOptions
from equipoise.config.loader import load
from equipoise.core.errors import EquipoiseError
from equipoise.core.machine import cores
from equipoise.core.values import ClientUpdate, Task
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.kind.histories.build import load_histories
from equipoise.kind.histories.site import HistorySite
from equipoise.run.advance import plan
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.loop import first_snapshot
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
    "rounds=2",
]
ENGINE = ["engine=processes", f"engine.workers={cores()}", "engine.threads=1"]
FULL = ["model.keys=64"]
IDS = ["model=sasrec", "balance=none"]
DRAWN = ["method.loss=sampled", "method.negatives=100"]
FEW = 2
SECOND = 1
"""The second and last round is timed: at the first step of a run each term is also measured by itself."""
ROUND, EVALUATION, MEMORY = {"ids": 5.0, "full": 15.0}, 2.0, 4096.0
"""Goals: seconds of a round and of an evaluation, MiB of a run."""


def run(repeats: int) -> Iterator[BenchmarkResult]:
    require_data()
    yield against_plain(federation_of([*FULL, *DRAWN]), repeats)
    for name, kind in (("ids", IDS), ("full", FULL)):
        federation = federation_of(kind)
        tasks = plan(federation, first_snapshot(federation), SECOND)
        what = f"a round of 100 clients, {name}: seconds, against the goal"
        seconds, note = timed_rounds(federation, tasks, repeats), where(federation.site, tasks)
        yield _within(f"rec/{name}", what, seconds, ROUND[name], note)
    torch.set_num_threads(cores())
    seconds = [timed_evaluation(federation) for _ in range(repeats)]
    yield _within("rec/evaluation", "1000 users, both protocols: seconds, against the goal", seconds, EVALUATION)
    require_linux()
    mib = [peak(["run", "rec/feddmmr", *SETTING, *FULL, *ENGINE], cores())]
    yield replace(_within("rec/memory", "two rounds, scored, all processes: against the goal", mib, MEMORY), unit="MiB")


def against_plain(federation: Federation, repeats: int) -> BenchmarkResult:
    """A round of ours and a few clients of the plain design, in turns."""
    assert isinstance(federation.site, HistorySite)
    tasks = plan(federation, first_snapshot(federation), SECOND)
    few, recipe, engine = median_tasks(federation, tasks), plain_recipe(federation.site), make_engine(federation.site)

    def ours() -> float:
        return _mean_loss(engine.map(tasks), few)

    def theirs() -> float:
        torch.set_num_threads(cores())
        return _mean_loss([update for task in few for update in train(recipe, [task])], few)

    mine, plain = by_turns([ours, theirs], repeats)
    engine.close()
    whole = _samples(federation, tasks) / _samples(federation, few)
    sides = (mine.seconds[1:], [whole * seconds for seconds in plain.seconds[1:]])
    what = f"a round of {len(tasks)} clients, full model, 100 negatives; against one prefix and one candidate at a time"
    return paired("rec/plain", what, sides, Goal("at least", 20.0), figures=(mine.figure, plain.figure))


def median_tasks(federation: Federation, tasks: Sequence[Task]) -> list[Task]:
    by_size = sorted(tasks, key=lambda task: federation.site.samples(task.client))
    return by_size[len(tasks) // 2 :][:FEW]


def _mean_loss(updates: Iterable[object], of: Sequence[Task]) -> float:
    """The mean base loss over the steps of these clients."""
    wanted = {task.client for task in of}
    found = [update for update in updates if isinstance(update, ClientUpdate) and update.client in wanted]
    assert len(found) == len(wanted)
    return statistics.fmean(update.metrics["loss/base"] for update in found)


def _samples(federation: Federation, tasks: Sequence[Task]) -> int:
    return sum(federation.site.samples(task.client) for task in tasks)


def _within(name: str, what: str, seconds: Sequence[float], most: float, note: str = "") -> BenchmarkResult:
    middle = statistics.median(seconds)
    spread = (min(seconds) / most, max(seconds) / most)
    return BenchmarkResult(name, what, middle / most, spread, middle, most, Goal("at most", 1.0), note=note)


def require_data() -> None:
    """Raise LookupError, which skips the benchmark, where MovieLens-1M or its features are missing."""
    config = load("rec/feddmmr", [*SETTING, *FULL]).config
    assert isinstance(config.data, InteractionOptions)
    try:
        load_histories(config, config.data, None)
    except EquipoiseError as error:
        raise LookupError(f"MovieLens-1M with item features is not here: {error.what}") from error


def federation_of(settings: Sequence[str]) -> Federation:
    return build(load("rec/feddmmr", [*SETTING, *settings, *ENGINE]).config)


def timed_rounds(federation: Federation, tasks: Sequence[Task], rounds: int) -> list[float]:
    """Seconds that the clients of a round take, after one round to warm up."""
    engine, times = make_engine(federation.site), []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        list(engine.map(tasks))
        times.append(time.perf_counter() - began)
    engine.close()
    return times[1:]


def timed_evaluation(federation: Federation) -> float:
    """Of a second evaluation: the first also reads what clients remember that were never asked."""
    assert isinstance(federation.judge, RankJudge)
    merged = Merged(federation.start, ())
    for _ in range(2):
        began = time.perf_counter()
        scores, _ = federation.judge.observe(merged, {}, SECOND, is_last=True)
        assert scores, "the last round is scored"
    return time.perf_counter() - began
