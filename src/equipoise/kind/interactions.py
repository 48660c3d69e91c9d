"""Users' histories of items, in order of time."""

from __future__ import annotations

from equipoise.config.blocks import InteractionOptions
from equipoise.config.traits import HISTORIES
from equipoise.core.registry import KINDS
from equipoise.kind.record import Kind, figures

KINDS.register("interactions", module=__name__)(
    Kind(
        name="interactions",
        options=InteractionOptions,
        offers=frozenset({HISTORIES}),
        defaults={"partition": "users", "model": "sasrec", "method": "feddmmr"},
        aligned="feddmmr",
        build="equipoise.kind.histories.build:build",
        site="equipoise.kind.histories.site:HistorySite",
        plain_loss="equipoise.objective.recommend:recommend",
        inputs="",
        common_encoder="",
        content="equipoise.kind.histories.build:content",
        content_key="equipoise.kind.histories.build:content_key",
        describe="equipoise.kind.histories.describe:describe_interactions",
        show="equipoise.cli.data_report:print_interactions",
        unpublished="equipoise.data.known:OWN_INTERACTIONS",
        figures=figures("accuracy ranking losses lam gradients clients groups router memory drift"),
        unread=(
            "client.augment",
            "client.terms",
            "server.merge",
            "server.predict",
            "evaluate.clients",
            "evaluate.client_images",
            "evaluate.batch",
            "evaluate.beside",
            "evaluate.train_images",
            "server.common",
            "scenario.label_noise",
            "scenario.shift",
            "scenario.strength",
            "scenario.clients",
        ),
    )
)
