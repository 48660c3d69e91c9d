"""The whole configuration of a run, checked: unknown keys, types, ranges and combinations, all problems at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, SerializeAsAny, ValidationError, field_validator

from equipoise.config.aliases import CANONICAL
from equipoise.config.blocks import (
    BalanceOptions,
    ClientOptions,
    DataOptions,
    EngineOptions,
    EvaluateOptions,
    ImageOptions,
    MethodOptions,
    ModelOptions,
    PartitionOptions,
    ScenarioOptions,
    ServerOptions,
)
from equipoise.config.later import without_later
from equipoise.config.plugins import KEY, listed
from equipoise.config.traits import ANY_DATA, LABELS
from equipoise.core.clock import Clock
from equipoise.core.entry import Entry
from equipoise.core.errors import ConfigError, Problem, UnknownName
from equipoise.core.loading import Plugin
from equipoise.core.options import Options
from equipoise.core.plugins import once, plugins_of
from equipoise.core.registry import (
    AGGREGATES,
    BALANCES,
    DATASETS,
    ENGINES,
    KINDS,
    METHODS,
    MODELS,
    PREDICTS,
    SPLITTERS,
    TERMS,
    Registry,
    suggestion,
)

if TYPE_CHECKING:
    from equipoise.kind.record import Kind

NAMED: dict[str, Registry[Any]] = {
    "method": METHODS,
    "balance": BALANCES,
    "data": DATASETS,
    "partition": SPLITTERS,
    "model": MODELS,
    "engine": ENGINES,
}
"""Blocks whose settings depend on their name; `data=x` is short for `data.name=x`."""

AGGREGATE = "server.aggregate"
NESTED: dict[str, Registry[Any]] = {AGGREGATE: AGGREGATES}
"""The same inside of another block; they may be left out."""

PLAIN: dict[str, type[Options]] = {
    "client": ClientOptions,
    "server": ServerOptions,
    "evaluate": EvaluateOptions,
    "scenario": ScenarioOptions,
}


class Config(Options):
    """One run. `seed` is the random seed; the axis is `rounds` or, with one-shot communication, `checkpoints`."""

    name: str = Field("run", pattern=r"^[A-Za-z0-9][\w.-]*$", description="what the run is called")
    seed: int = Field(0, ge=0, description="random seed of the whole run")
    communication: Literal["rounds", "one-shot"] = Field(
        "rounds",
        description="rounds: the server's state goes down, updates come up; one-shot: nothing goes down",
    )
    rounds: int | None = Field(None, ge=1, description="communication rounds")
    checkpoints: int | None = Field(None, ge=1, description="how often a one-shot run is scored")
    guard: Literal["off", "warn", "stop", "heal"] = Field(
        "off", description="what to do about findings while the run goes on: nothing, note, end the run, apply a remedy"
    )
    limits: dict[str, dict[str, float]] = Field(
        {}, description="other limits of the rules: {code: {limit: value}}, as in limits.lr-cut.low=0.1"
    )
    plugins: list[Plugin] = Field(
        [], description="other people's code: modules, files, or {name, path, sha256 …}; what a run uses is filled in"
    )
    method: SerializeAsAny[MethodOptions] = MethodOptions()
    balance: SerializeAsAny[BalanceOptions] = BalanceOptions()
    data: SerializeAsAny[DataOptions] = ImageOptions()
    partition: SerializeAsAny[PartitionOptions] = PartitionOptions()
    model: SerializeAsAny[ModelOptions] = ModelOptions()
    client: ClientOptions = ClientOptions()
    server: ServerOptions = ServerOptions()
    engine: SerializeAsAny[EngineOptions] = EngineOptions()
    evaluate: EvaluateOptions = EvaluateOptions()
    scenario: ScenarioOptions = ScenarioOptions()

    @field_validator("guard", mode="before")
    @classmethod
    def _off_is_a_word(cls, value: Any) -> Any:
        """YAML reads a bare off as false."""
        return "off" if value is False else value

    @property
    def kind(self) -> Kind:
        """The kind of data that is learnt from."""
        return kind_of(self.data.name)

    @property
    def clock(self) -> Clock:
        return Clock(self.steps, self.client.epochs * (1 if self.is_one_shot else self.steps))

    @property
    def is_one_shot(self) -> bool:
        return self.communication == "one-shot"

    @property
    def steps(self) -> int:
        """How many checkpoints the run has: its rounds, or its one-shot checkpoints."""
        steps = self.checkpoints if self.is_one_shot else self.rounds
        assert steps is not None
        return steps

    def shows_beside(self, is_last: bool) -> bool:
        """Whether a scored checkpoint shows every way to predict, and the probe."""
        when = self.evaluate.beside or ("each" if self.is_one_shot else "last")
        return when == "each" or (when == "last" and is_last)

    def fingerprint(self) -> str:
        """Hash of everything that can move a number; the run's name and the engine that carries it out cannot.

        How many clients train along one axis moves the last bits: it enters where it is given, and is otherwise what
        the rest of the configuration makes it. Of plugins the content counts, not where their files lie.
        """
        idle = {"guard": True, "limits": True} if self.guard in {"off", "warn"} else {}
        content = self.model_dump(exclude={"name": True, "engine": True, KEY: True, **idle})
        return _hash(content | self._code() | self._arithmetic())

    def _code(self) -> dict[str, Any]:
        return {KEY: sorted([each.name, each.sha256] for each in self.plugins)} if self.plugins else {}

    def _arithmetic(self) -> dict[str, int]:
        axis = {} if self.engine.together is None else {"together": self.engine.together}
        return {"threads": self.engine.threads, **axis}

    def training_fingerprint(self) -> str | None:
        """Hash of all but how the server merges and predicts, which moves no one-shot client. None in rounds, and
        where a guard or validation may end or change the run."""
        if not self.is_one_shot or self.guard in {"stop", "heal"} or self.evaluate.patience is not None:
            return None
        kept_out = ("name", "engine", "server", "guard", "limits", KEY)
        content = self.model_dump(exclude=dict.fromkeys(kept_out, True)) | self._code()
        return _hash(content | {"fraction": self.server.fraction, **self._arithmetic()})


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(without_later(content), sort_keys=True).encode()).hexdigest()


def check(raw: Mapping[str, Any]) -> Config:
    """The configuration in `raw`, or a ConfigError that lists every problem; its plugins are loaded."""
    plugins = listed(raw.get(KEY) or [], Path.cwd())
    problems: list[Problem] = []
    values: dict[str, Any] = {KEY: plugins}
    for key, value in raw.items():
        if key in NAMED:
            values[key] = _named(key, value, problems)
        elif key in PLAIN:
            values[key] = _validated(PLAIN[key], _with_nested(key, value, problems), key, problems)
    for key in NAMED.keys() - values.keys():
        values[key] = _named(key, _stand_ins(raw).get(key, {}), problems)
    rest = {key: value for key, value in raw.items() if key not in values}
    top = _validated(Config, rest, "", problems)
    if problems:
        raise ConfigError(sorted(problems))
    assert isinstance(top, Config)
    config = top.model_copy(update=values)
    from equipoise.config.fits import misfits

    if problems := misfits(config):
        raise ConfigError(problems)
    return _completed(config)


def _completed(config: Config) -> Config:
    """With what it leaves to be filled in: canonical names, how many steps, the plugins of everything it names."""
    changes: dict[str, Any] = {KEY: once([*config.plugins, *plugins_of(chosen(config))])}
    if config.server.predict is not None:
        name = PREDICTS.find(config.server.predict).name
        changes["server"] = config.server.model_copy(update={"predict": name})
    steps = {"checkpoints": min(10, config.client.epochs)} if config.is_one_shot else {"rounds": 10}
    axis = next(iter(steps))
    return config.model_copy(update=changes | (steps if getattr(config, axis) is None else {}))


def chosen(config: Config) -> list[Entry[Any]]:
    """Everything that a configuration names."""
    named = [registry.find(getattr(config, key).name) for key, registry in NAMED.items()]
    server, terms = config.server, [TERMS.find(name) for name in config.client.terms]
    predict = [] if server.predict is None else [PREDICTS.find(server.predict)]
    aggregate = [] if server.aggregate is None else [AGGREGATES.find(server.aggregate.name)]
    return [*named, *terms, *predict, *aggregate]


def kind_of(dataset: str) -> Kind:
    """The kind of data that a set holds: the one whose settings its own settings extend."""
    options = DATASETS.find(dataset).options
    kinds: list[Kind] = [entry.make for entry in KINDS if issubclass(options, entry.make.options)]
    if not kinds:
        what = f"data '{dataset}' is of no known kind; its options extend none of"
        raise ConfigError([Problem("data", f"{what} {', '.join(entry.make.options.__name__ for entry in KINDS)}")])
    return kinds[0]


def fits_kind(key: str, name: str, kind: Kind) -> bool:
    """Whether that kind of data has all that a splitter, model or method needs."""
    traits = NAMED[key].find(name).traits
    offered = frozenset().union(*(entry.make.offers for entry in KINDS))
    needs = (traits & offered) or (frozenset() if ANY_DATA in traits else {LABELS})
    return needs <= kind.offers


def _stand_ins(raw: Mapping[str, Any]) -> Mapping[str, str]:
    """What the kind of data names for the blocks that a configuration leaves out."""
    data = raw.get("data", {})
    name = data if isinstance(data, str) else data.get("name") if isinstance(data, Mapping) else None
    try:
        return kind_of(str(name)).defaults if name else {}
    except ConfigError:
        return {}  # it is named among the problems


def _named(key: str, value: Any, problems: list[Problem]) -> Options | None:
    block = {"name": value} if isinstance(value, str) else value
    if not isinstance(block, Mapping):
        problems.append(Problem(key, f"expected a name or a block of settings, got {value!r}"))
        return None
    registry = NAMED.get(key) or NESTED[key]
    default = Config.model_fields[key].default.name if key in NAMED else "mean"
    try:
        entry = registry.find(str(block.get("name", default)), key)
    except UnknownName as error:
        problems.extend(error.problems)
        return None
    return _validated(entry.options, {**block, "name": entry.name}, key, problems)


def _with_nested(key: str, value: Any, problems: list[Problem]) -> Any:
    """A plain block, the named blocks inside of it checked."""
    found = dict(value) if isinstance(value, Mapping) else {}
    for path in NESTED:
        block, _, inner = path.partition(".")
        if block == key and found.get(inner) is not None:
            found[inner] = _named(path, found[inner], problems)
    return found if isinstance(value, Mapping) else value


def _validated(kind: type[Options], value: Any, path: str, problems: list[Problem]) -> Options | None:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        name = value.get("name", "") if isinstance(value, Mapping) else ""
        problems.extend(_problem(kind, item, path, name) for item in error.errors())
        return None


def _problem(kind: type[Options], item: Any, path: str, name: str) -> Problem:
    where = ".".join(str(part) for part in ([path] if path else []) + list(item["loc"]))
    if item["type"] == "extra_forbidden":
        return Problem(where, _unknown(kind, str(item["loc"][-1]), path, name))
    return Problem(where, f"{item['msg'].removeprefix('Value error, ')}, got {item['input']!r}")


def _unknown(kind: type[Options], key: str, path: str, name: str) -> str:
    known = [field for field in kind.model_fields if field != "name"]
    if kind is Config:
        return f"unknown key{suggestion(key, [*known, 'name', *(alias for alias in CANONICAL if '.' not in alias)])}"
    if path in {**NAMED, **NESTED}:
        return f"not a setting of {path} '{name}'" + (suggestion(key, known) if known else ", which has none")
    return f"unknown key{suggestion(key, known)}"
