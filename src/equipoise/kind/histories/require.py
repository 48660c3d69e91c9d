"""Requests that are refused before a run on histories begins, because they would fail later or have no effect."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from equipoise.client.groups import personal
from equipoise.client.history_work import HistoryWork
from equipoise.config.blocks import InteractionOptions
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, DataError
from equipoise.core.machine import memory
from equipoise.data.held_out import Histories
from equipoise.data.interactions import MODALITIES, Features, Interactions
from equipoise.kind.histories.site import HistorySite, needs_of
from equipoise.method.answers import Resolved
from equipoise.models.recommender import Recommender, wanted
from equipoise.server.item_tables import PAIR_BYTES, most_items


def pair(config: Config) -> None:
    """Experts are aligned with each other: one alone, or none, has nothing for λ to weigh."""
    if config.balance.name != "none" and len(wanted(config.model)) < len(MODALITIES):
        what = f"balance '{config.balance.name}' weighs how two experts agree, and this model does not have two"
        raise ConfigError(what, where="balance", fix="set balance=none, or model=dmmr with model.experts=both")


def travelling_state(config: Config) -> None:
    """The judge reads what users remember, so that it has to travel."""
    stays = getattr(config.engine, "client_state", None) == "stays"
    if config.engine.state_folder is not None or stays:
        key = "engine.client_state" if stays else "engine.state_folder"
        what = "users' memories are read when items are ranked, and would stay with their node"
        raise ConfigError(what, where=key, fix="leave it out; it is for labelled samples")


def not_compiled(config: Config) -> None:
    if config.engine.compile:
        what = "the networks of recommenders train along one axis, and are not compiled"
        raise ConfigError(what, where="engine.compile", fix="leave it out; it is for labelled samples")


def features(config: Config, given: Mapping[str, Features]) -> None:
    missing = [name for name in wanted(config.model) if name not in given]
    if missing:
        keys = ", ".join(f"data.{name}" for name in missing)
        what = f"the experts of model '{config.model.name}' need features that were not given: {', '.join(missing)}"
        others = "model.experts to what there is, or model=sasrec, both with balance=none"
        raise ConfigError(what, where=keys, fix=f"set {keys} to a table, or {others}")


def rounds(config: Config, options: InteractionOptions) -> None:
    """In a stream every slice but the last is trained on, for as many rounds as any other."""
    if config.evaluate.patience is not None:
        what = "a stream has no validation score that could stop improving"
        raise ConfigError(what, where="evaluate.patience", fix="set evaluate.patience=null")
    if config.is_one_shot or config.steps % (options.slices - 1):
        what = f"{options.slices} slices need rounds in a multiple of {options.slices - 1}, got {config.steps}"
        nearest = max(1, round(config.steps / (options.slices - 1))) * (options.slices - 1)
        raise ConfigError(what, where="rounds", fix=f"set rounds={nearest}, or data.slices")


def global_memory(config: Config, method: Resolved, work: HistoryWork) -> None:
    """A global memory needs dynamic memories, whose centres it clusters, and rounds in which its rows are read."""
    if needs_of(method).prototypes and (work.memory is None or config.is_one_shot):
        why = "a one-shot run sends nothing back" if config.is_one_shot else "no client has a dynamic memory to tell of"
        fix = "set method.common=0, or communication=rounds with model=dmmr and method.memory=dynamic"
        raise ConfigError(f"a global memory needs dynamic memories and rounds: {why}", where="method.common", fix=fix)


def unmet(site: HistorySite, data: Interactions) -> None:
    """A sampled loss needs items that the user never met."""
    last = site.config.steps - 1
    full = [user for user in range(data.n_users) if len(np.unique(site.history(user, last).items)) == data.n_items]
    if full:
        what = f"{len(full)} of {data.n_users} users met all {data.n_items} items (the first: {data.user_ids[full[0]]})"
        fix = "set method.loss=unmet or method.loss=softmax, which draw nothing"
        raise DataError(f"{what}: a sampled loss has nothing to compare with", where="method.loss", fix=fix)


def shared_tables(config: Config, model: Recommender) -> None:
    kept = sorted(personal(config, model.groups) & set(model.tables))
    if kept:
        what = f"with a sampled loss a client holds the rows it touches, and {', '.join(kept)} would be its own"
        fix = "take 'items' out of server.personal, or set method.loss=unmet"
        raise ConfigError(what, where="server.personal", fix=fix)


def sums(config: Config, histories: Histories) -> None:
    """Sums over histories need a split that is trained on once, items whose pairs fit into memory, and transitions."""
    if histories.slices is not None:
        what = "sums are sent once, and a stream is trained on slice by slice"
        fix = "set data.split=leave-one-out, or leave sums out: server.sums=null and a method that trains"
        raise ConfigError(what, where="data.split=slices", fix=fix)
    n, has = histories.interactions.n_items, memory()
    if n > most_items(has):
        needs, there = (f"{size / 2**30:,.1f} GiB" for size in (PAIR_BYTES * n**2, has))
        what = f"sums over pairs of {n} items take {needs}, and this machine has {there}: {most_items(has)} items fit"
        raise ConfigError(what, where="data", fix="data with fewer items, or a method that trains")
    if histories.train_end.max() < 2:
        what = "no user has two items to learn from, one after another"
        raise DataError(what, where="data", fix="longer histories: the last two items are for validation and test")
