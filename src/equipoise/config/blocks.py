"""The blocks of a configuration: the settings that every dataset, splitter, model, method and engine has.

A named thing adds its own settings by subclassing its block beside its code; see any file of `partition/`.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator

from equipoise.config.choices import CommonFeatures, ItemScore, Prototypes, Schedule
from equipoise.core.loading import Plugin
from equipoise.core.options import Options


class DataOptions(Options):
    """The data set. Its folder is not a setting: it is `EQUIPOISE_DATA`, or `data.path=…` on the command line."""

    name: str = "digits"


class SampleOptions(DataOptions):
    """How many labelled samples are used, and which of them are held out."""

    limit: int | None = Field(None, ge=1, description="use this many training samples, drawn at random")
    test_limit: int | None = Field(None, ge=1, description="use this many test samples, drawn at random")
    validation: float = Field(0.1, gt=0, lt=1, description="share of the training set held out for the evaluator")
    public: float = Field(0.0, ge=0, lt=1, description="share of the training set that the server keeps from clients")
    local_test: float = Field(
        0.0, ge=0, lt=1, description="share of every client's own samples held out as its local test set"
    )


class ImageOptions(SampleOptions):
    """Labelled images."""


class InteractionOptions(DataOptions):
    """Which users are kept, how their histories are split, and which item features are used."""

    subset: Literal["all", "top", "random"] = Field(
        "all", description="which users: all, the most active, a random draw"
    )
    users: int | None = Field(None, ge=1, description="how many users a subset keeps")
    subset_seed: int = Field(
        0, ge=0, description="seed of the random draw; not the run's, so that all runs of a study have the same users"
    )
    split: Literal["leave-one-out", "temporal", "slices"] = Field(
        "leave-one-out",
        description="held out: each user's last two items, what follows two moments, or one time slice after another",
    )
    held_out: float = Field(0.2, gt=0, lt=1, description="temporal: share of all interactions after the first moment")
    slices: int = Field(10, ge=2, description="slices: how many parts each history is cut into")
    cut: Literal["moments", "positions"] = Field(
        "moments", description="slices: cut at moments that all users share, or into equal parts of each history"
    )
    duplicates: Literal["refuse", "drop"] = Field("refuse", description="what to do with duplicate rows")
    short: Literal["refuse", "drop"] = Field(
        "refuse", description="users with fewer than three interactions, or none to train on"
    )
    untimed: Literal["keep", "drop"] = Field(
        "keep", description="users with an interaction whose moment is unknown; temporal splits need them dropped"
    )
    visual: str | None = Field(None, description="table of image features, FILE or FILE/COLUMN, in the data folder")
    text: str | None = Field(None, description="table of text features, FILE or FILE/COLUMN, in the data folder")
    features: Literal["as-given", "unproven", "shuffled", "noise"] = Field(
        "as-given",
        description="unproven: used without proof that they belong to these items; shuffled: rows assigned to wrong "
        "items, as a control; noise: the fifth report's failure",
    )

    @field_validator("users")
    @classmethod
    def _number_of_a_subset(cls, value: int | None, info: ValidationInfo) -> int | None:
        subset = info.data.get("subset")
        if subset == "all" and value is not None:
            raise ValueError("a number of users needs subset=top or subset=random")
        if subset in {"top", "random"} and value is None:
            raise ValueError(f"subset={subset} needs the number of users to keep")
        return value


class PartitionOptions(Options):
    """Which client owns which training samples."""

    name: str = "dirichlet"
    clients: int = Field(5, ge=1, description="number of clients")
    min_size: int = Field(2, ge=1, description="least samples per client; clients with fewer are topped up")


class ScenarioOptions(Options):
    """How clients differ beyond the partition: wrong labels, shifted images. Only training images change."""

    label_noise: float = Field(0.0, ge=0, le=1, description="share of a client's labels replaced by another class")
    shift: Literal["none", "rotation", "colour", "blur"] = Field(
        "none", description="how a client's images are changed, with parameters drawn per client"
    )
    strength: float = Field(
        0.5, gt=0, le=1, description="strength of the shift: 1 is any angle, any colour, a blur of an eighth"
    )
    clients: float = Field(1.0, gt=0, le=1, description="share of the clients that are affected, drawn at random")

    @field_validator("strength", "clients")
    @classmethod
    def _of_something(cls, value: float, info: ValidationInfo) -> float:
        is_default = value == cls.model_fields[str(info.field_name)].default
        has_noise = info.field_name == "clients" and info.data.get("label_noise")
        if not is_default and not has_noise and info.data.get("shift") == "none":
            raise ValueError(
                "does nothing without a shift" + (" or label_noise" if info.field_name == "clients" else "")
            )
        return value

    @property
    def is_empty(self) -> bool:
        return self.label_noise == 0 and self.shift == "none"


class ModelOptions(Options):
    """The network every client trains. A network that is read from files overrides what is below its name."""

    name: str = "cnn"

    def completed(self) -> Self:
        """The same settings with the hashes of the files that they name."""
        return self

    def code(self) -> list[Plugin]:
        """Code beside that of the model's name, loaded."""
        return []

    def identity(self) -> dict[str, Any]:
        """What enters a configuration's hash: contents, not places."""
        return self.model_dump()


class MethodOptions(Options):
    """The five answers: base, align, λ, merge, predict."""

    name: str = "fedavg"


class BalanceOptions(Options):
    """The policy that chooses λ."""

    name: str = "none"


class Stage(Options):
    """Rounds in which only some of the model's groups are trained and merged."""

    rounds: int = Field(ge=1, description="how many rounds, or one-shot checkpoints, the stage lasts")
    groups: list[str] = Field(min_length=1, description="what is trained; everything else is frozen")


class ClientOptions(Options):
    """How a client trains."""

    epochs: int = Field(1, ge=1, description="epochs per round; with one-shot communication, of the whole run")
    batch: int = Field(32, ge=1, description="samples, or windows of a history, per step; a smaller last batch is kept")
    optimiser: Literal["sgd", "adamw"] = Field("sgd", description="local optimiser")
    lr: float = Field(0.05, gt=0, description="local learning rate")
    schedule: Schedule = Field("none", description="s(p) over the whole run; multiplies the epoch's learning rate")
    momentum: float = Field(0.9, ge=0, lt=1, description="momentum of SGD; β₁ of AdamW")
    weight_decay: float = Field(0.0, ge=0, description="weight decay of the local optimiser; item tables do not decay")
    clip: float | None = Field(None, gt=0, description="largest global gradient norm")
    stages: list[Stage] = Field([], description="train these groups of the model first, then all: {rounds, groups} …")
    augment: Literal["none", "two-view"] = Field(
        "none", description="two-view: each image twice, cropped, flipped and recoloured"
    )
    terms: dict[str, float] = Field(
        {}, description="further terms of the local loss: {term: weight}, as in client.terms.contrast=0.1"
    )


class AggregateOptions(Options):
    """How the server merges the clients' models into one."""

    name: str = "mean"


class ServerOptions(Options):
    """Which clients take part, how the server merges, and how it predicts."""

    fraction: float = Field(1.0, gt=0, le=1, description="share of the clients that train in a round")
    merge: Prototypes | None = Field(None, description="how prototypes are merged; default: plain, as published")
    aggregate: SerializeAsAny[AggregateOptions] | None = Field(
        None,
        description="how clients' models are merged, a name or a block; default: the method's own merge",
    )
    predict: str | None = Field(None, description="how the server predicts; default: the method's own predictor")
    deadline: float | None = Field(None, gt=0, description="seconds after which a step ends without late machines")
    quorum: float = Field(0.5, gt=0, le=1, description="share of a step's clients that must have answered by then")
    common: CommonFeatures = Field(
        "filters", description="fixed features of predictors that want some: random filters, or patches of photographs"
    )
    personal: list[str] = Field([], description="groups of the model that stay with their client, never merged")
    sums: ItemScore | None = Field(
        None,
        description="recommenders: users also send sparse sums once, whose closed-form scores are added to the model's",
    )


class EngineOptions(Options):
    """Where clients run. Engines give the same numbers; threads per client may change the last bits."""

    name: str = "local"
    device: str = Field(
        "auto",
        pattern=r"^(auto|[a-z]+(:\d+)?)$",
        description="where clients train and models predict: cpu, cuda, cuda:1, mps; auto: the accelerator, if any",
    )
    precision: Literal["fp32", "tf32", "bf16"] = Field(
        "fp32", description="of forward and backward passes; losses, statistics and weights stay in single precision"
    )
    deterministic: bool = Field(
        False, description="ask torch for deterministic kernels; an operation that has none ends the run"
    )
    compile: bool = Field(
        False, description="compile the network of clients that train alone with torch.compile; pays in long runs"
    )
    threads: int = Field(1, ge=1, description="threads per client; 1 gives the same bits however many cores there are")
    state_folder: str | None = Field(
        None, description="folder in which nodes keep their clients' state; null: it travels with tasks and results"
    )
    together: int | None = Field(
        None, ge=1, description="clients that train along one axis; null: eight for recommenders, else by a cost model"
    )


class EvaluateOptions(Options):
    """What is scored, and how often. The last checkpoint is always scored."""

    every: int = Field(1, ge=1, description="score every n-th checkpoint")
    patience: int | None = Field(
        None, ge=1, description="end the run after this many scored checkpoints without a better validation score"
    )
    clients: int = Field(20, ge=0, description="at most this many clients' own models are scored on the test set")
    client_images: int | None = Field(
        2000, ge=1, description="clients' own models are scored on this many samples of a split; null: on all"
    )
    batch: int = Field(512, ge=1, description="samples per forward pass")
    beside: Literal["each", "last", "never"] | None = Field(
        None,
        description="when to score the other predictors and the probe; default: each checkpoint, in rounds the last",
    )
    train_images: int | None = Field(
        5000, ge=1, description="training samples that the probe is fitted on and clients summarise; null: all"
    )
