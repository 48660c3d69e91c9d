"""What the gallery shows: small real runs on embedded data. A story that is added here is trained by the next build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Story:
    """A few runs with their pictures and a report. The name is that of its page and its files."""

    name: str
    title: str
    says: str
    """What is to be seen, in a sentence or two; no numbers, because the build measures them."""
    preset: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As of `eq.sweep`: a list is an axis of the grid."""
    seeds: int = 1
    languages: Sequence[str] = ("en",)
    """Of its reports."""
    cover: str = "accuracy"
    """The figure of its first run that the front page of the gallery shows."""

    @property
    def command(self) -> str:
        """The same from the command line."""
        settings = [f"{key}={written(value)}" for key, value in self.settings.items()]
        return " ".join(["equipoise", "sweep", self.preset, *settings, "--seeds", str(self.seeds)])


def written(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


STORIES = (
    Story(
        "two-methods",
        "Two methods, seed by seed",
        "FedAvg and FedProx on clients that have few classes each. The table takes differences seed by seed; the "
        "interval says whether they are more than chance.",
        "fedavg",
        {"method": ["fedavg", "fedprox"], "partition.alpha": 0.05, "rounds": 5},
        seeds=2,
        languages=("en", "zh"),
    ),
    Story(
        "runaway",
        "A λ policy that runs away, and the same healed",
        "V12 learns λ without a ceiling: prototypes that start at their anchors have almost no alignment loss, and λ "
        "grows as its inverse. With `guard=heal` the run notices, and applies the remedies of the rules as it goes on.",
        "etf-align",
        {
            "balance": "v12",
            "balance.sigma.lr": 0.2,
            "method.start": "anchor",
            "method.logits": "cosine",
            "client.schedule": "cosine",
            "client.epochs": 10,
            "checkpoints": 10,
            "guard": ["off", "heal"],
        },
        cover="lam",
    ),
    Story(
        "one-upload",
        "One upload",
        "Clients train once and send once, at two skews. Other servers predict from the same clients.",
        "fafi",
        {"partition.alpha": [0.05, 0.5], "client.epochs": 6, "checkpoints": 3},
    ),
    Story(
        "recommender",
        "A recommender",
        "Every user is a client. The multimodal recommender with a gate in front of its experts, which starves them.",
        "rec/feddmmr",
        {"model.fusion": "gate", "rounds": 24, "evaluate.every": 8, "data.users": 120},
        cover="router",
    ),
)
ALPHAS = (0.01, 0.05, 0.5)
"""The skews at which the gallery shows who owns what."""
