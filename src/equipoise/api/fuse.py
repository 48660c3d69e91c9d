"""Scores other servers on the clients of a run: nothing is trained again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.api.choose import AnyRun, found
from equipoise.api.handle import RunHandle
from equipoise.api.place import StoreAt, existing
from equipoise.core.exchanges import needs_second_exchange
from equipoise.core.torch_settings import kept_torch_settings

if TYPE_CHECKING:
    import polars as pl

    from equipoise.store.records import Run
    from equipoise.store.transact import Store

FIGURES = ("accuracy/merged", "accuracy/validation", "accuracy/best_client", "accuracy/probe")
RANKED = ("hr@10/full", "ndcg@10/full", "hr@10/uni100", "ndcg@10/uni100")


@dataclass(frozen=True)
class FusedRuns:
    """The fused runs in the order of their servers; each is a run of its own."""

    source: RunHandle
    """The run whose clients they use."""
    servers: tuple[dict[str, Any], ...]
    """{run_id, merge, predict, common, exchanges, merged, validation, …} of each, as in `equipoise fuse --json`."""

    @property
    def runs(self) -> list[RunHandle]:
        """The fused runs."""
        return [RunHandle(server["run_id"], self.source.store) for server in self.servers]

    @property
    def best(self) -> RunHandle:
        """The best on validation; one that needs a second exchange is chosen only if there is no other."""
        return RunHandle(best_of(self.servers)["run_id"], self.source.store)

    def table(self) -> pl.DataFrame:
        """One row per server; accuracies as shares of one."""
        import polars as pl

        return pl.DataFrame(list(self.servers), infer_schema_length=None)

    def __len__(self) -> int:
        return len(self.servers)

    def __iter__(self) -> Iterator[RunHandle]:
        return iter(self.runs)

    def _repr_html_(self) -> str:
        from equipoise.api.cards import table

        titles: tuple[str, ...] = ("merge", "predict", "accuracy", "validation", "run")
        shown: tuple[str, ...] = ("merge", "predict", "merged", "validation", "run_id")
        if "sums" in self.servers[0]:
            titles = shown = ("sums", "hr@10/full", "ndcg@10/full", "weight", "run_id")
        cells = [[_cell(server[name]) for name in shown] for server in self.servers]
        return str(table(titles, cells))


def _cell(value: Any) -> str:
    return f"{100 * value:.2f} %" if isinstance(value, float) else str(value)


def best_of(servers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The best on validation, among one-exchange servers if there are any."""
    return max(servers, key=lambda server: (server["exchanges"] == 1, server["validation"]))


def fuse(
    run: AnyRun,
    *,
    merge: str | Iterable[str] | None = None,
    predict: str | Iterable[str] | None = None,
    common: str | None = None,
    sums: str | Iterable[str] | None = None,
    path: str | Path | None = None,
    store: StoreAt = None,
) -> FusedRuns:
    """Score other servers on the trained clients of a finished one-shot run, or users' sums beside a recommender.

    Every pair of a merge and a predictor is stored as a run of its own, and so is a recommender with sums; what was
    fused before is found again.

    Args:
        run: a run, its id, the beginning of one, or "latest".
        merge: "plain", "unit" or "counts", or several of them; the run's own unless given.
        predict: a name of `eq.PREDICTS`, several of them, or "all" that the method allows; the run's own unless given.
        common: "filters" or "patches", the fixed features of predictors that use such; the run's own unless given.
        sums: of a recommender: "markov", "ridge" or "blend", or several of them, each added to the model's scores.
        path: the data folder, if it has moved.
    """
    from equipoise.run.fuse import fuse as fuse_all
    from equipoise.run.fuse import servers_of
    from equipoise.run.fuse_sums import fuse_sums
    from equipoise.store.read import find_run
    from equipoise.store.records import refuse_imported

    source, folder = found(run, store), Path(path) if path is not None else None
    with existing(source.store) as opened, kept_torch_settings():
        record = find_run(opened, source.id)
        refuse_imported(record, "to fuse")
        if sums is not None:
            require_alone(merge, predict, common)
            ids = fuse_sums(opened, record, _several(sums), folder)
            return FusedRuns(source, tuple(line_with_sums(opened, find_run(opened, run_id)) for run_id in ids))
        servers = servers_of(record, _several(merge), _several(predict), common)
        ids = fuse_all(opened, record, servers, folder)
        return FusedRuns(source, tuple(line_of(opened, find_run(opened, run_id)) for run_id in ids))


def _several(names: str | Iterable[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def require_alone(*others: object) -> None:
    from equipoise.core.errors import ConfigError

    if any(other is not None for other in others):
        what = "sums are for recommenders, merge, predict and common for labelled samples"
        raise ConfigError(what, where="fuse", fix="give sums alone, or the others")


def line_with_sums(store: Store, run: Run) -> dict[str, Any]:
    """The result of a recommender with users' sums; `validation` is ndcg@10/full with the weight that was chosen."""
    from equipoise.store.metrics import final_metrics

    metrics, sums = final_metrics(store, run.run_id), run.config["server"]["sums"]
    figures = {name: metrics[name] for name in RANKED}
    chosen = {"weight": metrics["blend/sums"], "validation": metrics["blend/sums/validation"]}
    return {"run_id": run.run_id, "sums": sums, "exchanges": 2, **figures, **chosen}


def line_of(store: Store, run: Run) -> dict[str, Any]:
    """The result of one server."""
    from equipoise.config.check import check
    from equipoise.method.resolve import resolve
    from equipoise.run.fuse import RIVAL
    from equipoise.store.metrics import final_metrics

    config, metrics = check(run.config), final_metrics(store, run.run_id)
    predict = str(resolve(config).predict)
    return {
        "run_id": run.run_id,
        "merge": config.server.merge or "plain",
        "predict": predict,
        "common": config.server.common,
        "exchanges": 2 if needs_second_exchange(predict) else 1,
        **{name.removeprefix("accuracy/"): metrics.get(name) for name in FIGURES},
        "probability_ensemble": metrics.get(f"accuracy/merged/{RIVAL}"),
    }
