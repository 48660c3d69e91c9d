"""Checks across keys: settings that contradict each other, and answers that a method does not leave open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipoise.config import traits
from equipoise.config.kinds import fits_kind
from equipoise.config.named import NAMED, PLAIN
from equipoise.config.schema import Config
from equipoise.core.errors import Problem, UnknownName
from equipoise.core.registry import METHODS, MODELS, PREDICTS, TERMS


def misfits(config: Config) -> list[Problem]:
    """All such problems; a method for another kind of data is reported alone, without what follows from it."""
    strange = [*_strangers(config), *_unread(config)]
    return [*strange, *_axis(config), *_machines(config), *([] if strange else _answered(config))]


def _answered(config: Config) -> list[Problem]:
    checks = (_answers, _aggregate, _predict, _terms, _target, _solved, _sums)
    return [problem for check in checks for problem in check(config)]


def _axis(config: Config) -> Iterator[Problem]:
    """A run has either rounds or checkpoints, not both."""
    if config.is_one_shot and config.rounds is not None:
        yield Problem("rounds", "a one-shot run has no rounds; set checkpoints")
    if not config.is_one_shot and config.checkpoints is not None:
        yield Problem("checkpoints", "belongs to communication=one-shot; a run in rounds is scored each round")
    if config.is_one_shot and (config.checkpoints or 1) > config.client.epochs:
        message = f"{config.checkpoints} checkpoints need at least as many client.epochs, got {config.client.epochs}"
        yield Problem("checkpoints", message)


def _machines(config: Config) -> Iterator[Problem]:
    """Settings for machines that may be late, where nobody can be."""
    if config.engine.name != "flower" and config.server.deadline is not None:
        yield Problem("server.deadline", "belongs to engine=flower: other engines wait for all clients")
    keeps, compress = getattr(config.engine, "keeps_state", None), getattr(config.engine, "compress", "none")
    if compress in {"fp16", "int8"} and keeps is not None and not keeps(config):
        message = f"{compress} would round what clients keep, which travels here; engine.compress=zstd rounds nothing"
        yield Problem("engine.compress", message)
    if config.partition.name == "machines":
        yield from _own_data(config)
    if config.server.deadline is None and config.server.quorum != _default("server", "quorum"):
        yield Problem("server.quorum", "does nothing without server.deadline, after which a step may end")


def _own_data(config: Config) -> Iterator[Problem]:
    """What needs samples that the driver of machines with their own data does not have."""
    if config.engine.name != "flower":
        yield Problem("partition", "'machines' is for engine=flower: each machine brings its own data")
    if not config.scenario.is_empty:
        yield Problem("scenario", "changes clients' samples, and machines with their own data keep theirs as they are")
    if getattr(config.data, "local_test", 0):
        yield Problem("data.local_test", "is drawn where the samples are, and partition=machines leaves them there")
    if traits.POOLS_DATA in METHODS.find(config.method.name).traits:
        yield Problem("method", f"'{config.method.name}' needs everybody's samples in one place")


def _strangers(config: Config) -> Iterator[Problem]:
    """Splitters, models and methods that need something this kind of data does not have."""
    kind = config.kind
    for key in ("partition", "model", "method"):
        name = getattr(config, key).name
        if not fits_kind(key, name, kind):
            has = f"data '{config.data.name}' holds {kind.name}"
            fits = ", ".join(entry.name for entry in NAMED[key] if fits_kind(key, entry.name, kind))
            yield Problem(key, f"'{name}' is not for {kind.name}; {has}: one of {fits}")


def _unread(config: Config) -> Iterator[Problem]:
    """Settings that have no effect for this kind of data."""
    for path in config.kind.unread:
        key, name = path.split(".")
        if getattr(getattr(config, key), name) != _default(key, name):
            yield Problem(path, f"is for images, and data '{config.data.name}' holds {config.kind.name}")


def _default(key: str, name: str) -> Any:
    return PLAIN[key].model_fields[name].default


def _answers(config: Config) -> Iterator[Problem]:
    """Answers that the configuration gives and the method does not leave open."""
    name, server = config.method.name, config.server
    leaves = METHODS.find(name).traits
    if traits.OPEN_LAMBDA not in leaves and config.balance.name != "none":
        message = f"method '{name}' chooses λ itself; '{config.balance.name}' would do nothing"
        yield Problem("balance", f"{message}; set balance=none, or method={config.kind.aligned}")
    if traits.POOLS_DATA in leaves and server.personal:
        yield Problem("server.personal", f"method '{name}' trains one model on everybody's data: nothing is personal")
    if traits.NEEDS_ROUNDS in leaves and config.is_one_shot:
        message = f"method '{name}' lives on what the server sends down after a merge, and nothing goes down here"
        yield Problem("communication", f"{message}; set communication=rounds")
    if traits.NEEDS_SGD in leaves and config.client.optimiser != "sgd":
        message = f"method '{name}' reads gradients off the way that clients went, and {config.client.optimiser} goes"
        yield Problem("client.optimiser", f"{message} another one; set client.optimiser=sgd")
    if traits.PROTOTYPES not in leaves and server.merge is not None:
        yield Problem("server.merge", f"method '{name}' has no prototypes to merge")
    if traits.PUBLIC_POOL in leaves and not getattr(config.data, "public", 0):
        yield Problem("data.public", f"method '{name}' needs a public pool: set data.public=0.1")


def _aggregate(config: Config) -> Iterator[Problem]:
    """Another merge, where the method's own is not the plain mean of models that go down again."""
    aggregate, key = config.server.aggregate, "server.aggregate"
    if aggregate is None:
        return
    name, has = config.method.name, METHODS.find(config.method.name).traits
    if has & {traits.OWN_MERGE, traits.PROTOTYPES, traits.MEANS}:
        yield Problem(key, f"method '{name}' merges in its own way; '{aggregate.name}' would do nothing")
    if has & {traits.MERGES_NOTHING, traits.POOLS_DATA}:
        yield Problem(key, f"method '{name}' has no models of several clients to merge")
    if config.is_one_shot:
        yield Problem(
            key, "belongs to communication=rounds; a one-shot run is merged by server.merge and server.predict"
        )


def _terms(config: Config) -> Iterator[Problem]:
    for name in config.client.terms:
        try:
            TERMS.find(name, f"client.terms.{name}")
        except UnknownName as error:
            yield from error.problems


def _predict(config: Config) -> Iterator[Problem]:
    """A predictor that is unknown, or whose inputs the method does not produce."""
    predict, key = config.server.predict, "server.predict"
    if predict is None:
        return
    try:
        needs = PREDICTS.find(predict, key).traits
    except UnknownName as error:
        yield from error.problems
        return
    name = config.method.name
    has = METHODS.find(name).traits
    if traits.MERGES_NOTHING in has:
        yield Problem(key, f"method '{name}' merges nothing that could predict")
    for need, what in ((traits.PROTOTYPES, "prototypes"), (traits.MEANS, "class means")):
        if need in needs - has:
            yield Problem(key, f"'{predict}' needs {what}, which method '{name}' has not")


def _target(config: Config) -> Iterator[Problem]:
    """The policy `progressive` and the target it is made for."""
    moves = getattr(config.method, "target", None) == "progressive"
    if config.balance.name == "progressive" and not moves:
        message = "the target of 'progressive' moves: add method=etf-align method.target=progressive, or run preset v8"
        yield Problem("balance", message)
    if not config.is_one_shot and moves:
        yield Problem("method.target", "a path from the start to the anchors needs communication=one-shot")


def _solved(config: Config) -> Iterator[Problem]:
    """A model that the server solves, and a method that solves it: one upload, and each needs the other."""
    method, model = config.method.name, config.model.name
    solves, is_solved = traits.SOLVED in METHODS.find(method).traits, traits.SOLVED in MODELS.find(model).traits
    if solves and not is_solved:
        fits = ", ".join(entry.name for entry in MODELS if traits.SOLVED in entry.traits)
        yield Problem(
            "model", f"method '{method}' trains nothing, and '{model}' has weights to train; set model={fits}"
        )
    if is_solved and not solves:
        fits = ", ".join(entry.name for entry in METHODS if traits.SOLVED in entry.traits)
        yield Problem("model", f"'{model}' has nothing to train, which '{method}' would; set method={fits}")
    if solves and not config.is_one_shot:
        message = f"method '{method}' needs one upload, and further rounds would send the same again"
        yield Problem("communication", f"{message}; set communication=one-shot")


def _sums(config: Config) -> Iterator[Problem]:
    """Users' sums beside a trained model that ranks items."""
    if config.server.sums is None:
        return
    key, has, method = "server.sums", METHODS.find(config.method.name).traits, config.method.name
    if traits.HISTORIES not in config.kind.offers:
        yield Problem(key, f"is for interactions, and data '{config.data.name}' holds {config.kind.name}")
    elif traits.SOLVED in has:
        yield Problem(key, f"method '{method}' is made of such sums; leave it out, or choose a method that trains")
    elif traits.MERGES_NOTHING in has:
        yield Problem(key, f"method '{method}' has no server's model to add their scores to")
