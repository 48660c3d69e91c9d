"""Rows of features with one label each, which a network outside has computed."""

from __future__ import annotations

from equipoise.config.traits import LABELS
from equipoise.core.registry import KINDS
from equipoise.data.feature_file import FeatureOptions
from equipoise.kind.record import Kind, figures

KINDS.register("features", module=__name__)(
    Kind(
        name="features of samples",
        options=FeatureOptions,
        offers=frozenset({LABELS}),
        defaults={"partition": "dirichlet", "model": "linear", "method": "fedavg"},
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
        unpublished="equipoise.data.feature_file:UNPUBLISHED",
        figures=figures("partition accuracy losses lam gradients clients recall geometry features"),
        unread=("client.augment", "scenario.shift", "server.common"),
    )
)
