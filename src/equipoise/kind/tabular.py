"""Rows of numbers and categories with one label each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.config.traits import LABELS
from equipoise.core.registry import KINDS
from equipoise.core.streams import stream_seed
from equipoise.data.tabular import TabularOptions
from equipoise.kind.record import Kind, figures

if TYPE_CHECKING:
    from torch import nn

RANDOM_FEATURES = 256


def common_encoder(shape: tuple[int, ...], seed: int) -> nn.Module:
    """Random features relu(R·x + b), which are not trained."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(stream_seed(seed, "common-features"))
        encoder = torch.nn.Sequential(torch.nn.Linear(shape[0], RANDOM_FEATURES), torch.nn.ReLU())
    return encoder.requires_grad_(False)


KINDS.register("tabular", module=__name__)(
    Kind(
        name="tabular rows",
        options=TabularOptions,
        offers=frozenset({LABELS}),
        defaults={"partition": "dirichlet", "model": "mlp", "method": "fedavg"},
        aligned="etf-align",
        build="equipoise.kind.samples.build:build",
        site="equipoise.kind.samples.site:SampleSite",
        plain_loss="equipoise.objective.classify:plain_loss",
        inputs="equipoise.data.tabular:ColumnInputs",
        common_encoder="equipoise.kind.tabular:common_encoder",
        content="equipoise.kind.samples.build:content",
        content_key="equipoise.kind.samples.build:content_key",
        describe="equipoise.data.tabular:describe",
        show="equipoise.cli.data_report:print_samples",
        unpublished="equipoise.data.tabular:UNPUBLISHED",
        figures=figures("partition accuracy losses lam gradients clients recall geometry features"),
        unread=("client.augment", "scenario.shift", "server.common"),
    )
)
