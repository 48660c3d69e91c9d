"""The whole configuration of a run, checked: unknown keys, types, ranges and combinations, all problems at once."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, SerializeAsAny, field_validator

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
from equipoise.config.kinds import kind_of
from equipoise.config.later import without_later
from equipoise.config.plugins import KEY
from equipoise.config.track import TrackOptions
from equipoise.core.clock import Clock
from equipoise.core.loading import Plugin
from equipoise.core.options import Options

if TYPE_CHECKING:
    from equipoise.kind.record import Kind


class Config(Options):
    """One run. `seed` is the random seed; the axis is `rounds` or, with one-shot communication, `checkpoints`."""

    name: str = Field("run", pattern=r"^[A-Za-z0-9][\w.-]*$", description="name of the run")
    seed: int = Field(0, ge=0, description="random seed of the whole run")
    communication: Literal["rounds", "one-shot"] = Field(
        "rounds",
        description="rounds: the server sends its state down and clients send updates up; one-shot: nothing goes down",
    )
    rounds: int | None = Field(None, ge=1, description="communication rounds")
    checkpoints: int | None = Field(None, ge=1, description="how often a one-shot run is scored")
    guard: Literal["off", "warn", "stop", "heal"] = Field(
        "off", description="what to do about findings during the run: nothing, note them, end the run, apply a remedy"
    )
    limits: dict[str, dict[str, float]] = Field(
        {}, description="limits of rules to override: {code: {limit: value}}, as in limits.lr-cut.low=0.1"
    )
    plugins: list[Plugin] = Field(
        [], description="third-party code: modules, files, or {name, path, sha256 …}; those a run uses are filled in"
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
    track: TrackOptions = TrackOptions()

    @field_validator("guard", mode="before")
    @classmethod
    def _off_is_a_word(cls, value: Any) -> Any:
        """YAML reads a bare off as false."""
        return "off" if value is False else value

    @property
    def kind(self) -> Kind:
        """The kind of data of the run."""
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
        """Whether a scored checkpoint scores every predictor, and the probe."""
        when = self.evaluate.beside or ("each" if self.is_one_shot else "last")
        return when == "each" or (when == "last" and is_last)

    def fingerprint(self) -> str:
        """Hash of everything that can change a number; the run's name, the engine and trackers cannot. `auto` counts as
        the CPU: resolve the device first (`run/placed`).

        The kind of device changes the last bits, and so does how many clients train along one axis: that enters the
        hash where it is given, and otherwise follows from the rest. Plugins enter with their content, not with the
        place of their files.
        """
        idle = {"guard": True, "limits": True} if self.guard in {"off", "warn"} else {}
        content = self.model_dump(exclude={"name": True, "engine": True, "track": True, KEY: True, **idle})
        return _hash(content | self._network() | self._code() | self._arithmetic())

    def _network(self) -> dict[str, Any]:
        return {"model": self.model.identity()}

    def _code(self) -> dict[str, Any]:
        return {KEY: sorted([each.name, each.sha256] for each in self.plugins)} if self.plugins else {}

    def _arithmetic(self) -> dict[str, Any]:
        """What changes the last bits. What earlier versions did not have enters only where it differs from theirs."""
        engine = self.engine
        given = {
            "together": engine.together,
            "device": None if engine.device in {"auto", "cpu"} else engine.device.partition(":")[0],
            "precision": None if engine.precision == "fp32" else engine.precision,
            "deterministic": engine.deterministic or None,
            "compile": engine.compile or None,
        }
        return {"threads": engine.threads, **{key: value for key, value in given.items() if value is not None}}

    def training_fingerprint(self) -> str | None:
        """Hash of all settings but the server's merge and predictor, which do not affect one-shot clients. None with
        rounds, and where a guard or validation may end or change the run."""
        if not self.is_one_shot or self.guard in {"stop", "heal"} or self.evaluate.patience is not None:
            return None
        kept_out = ("name", "engine", "server", "guard", "limits", "track", KEY)
        content = self.model_dump(exclude=dict.fromkeys(kept_out, True)) | self._network() | self._code()
        return _hash(content | {"fraction": self.server.fraction, **self._arithmetic()})


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(without_later(content), sort_keys=True).encode()).hexdigest()
