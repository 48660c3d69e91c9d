"""Images with one label each."""

from __future__ import annotations

from equipoise.config.blocks import ImageOptions
from equipoise.config.traits import LABELS, PIXELS
from equipoise.core.registry import KINDS
from equipoise.kind.record import Kind, figures

KINDS.register("images", module=__name__)(
    Kind(
        name="images",
        options=ImageOptions,
        offers=frozenset({LABELS, PIXELS}),
        defaults={"partition": "dirichlet", "model": "cnn", "method": "fedavg"},
        aligned="etf-align",
        build="equipoise.kind.samples.build:build",
        site="equipoise.kind.samples.site:SampleSite",
        plain_loss="equipoise.objective.classify:plain_loss",
        inputs="equipoise.data.inputs:PixelInputs",
        common_encoder="equipoise.models.filters:common_encoder",
        patch_encoder="equipoise.models.patches:common_encoder",
        content="equipoise.kind.samples.build:content",
        content_key="equipoise.kind.samples.build:content_key",
        describe="equipoise.kind.samples.describe:describe_images",
        show="equipoise.cli.data_report:print_samples",
        unpublished="equipoise.data.known:OWN_IMAGES",
        figures=figures("partition accuracy losses lam gradients clients recall geometry features"),
    )
)
