"""The predictors, what each needs, and the summaries that servers ask clients for. Code is imported on use."""

from __future__ import annotations

from equipoise.config.traits import BATCH_NORM, MEANS, ONE_MODEL, PROTOTYPES, SECOND_EXCHANGE
from equipoise.core.registry import PREDICTS, SUMMARIES

PREDICTS.declare("common-gate", "equipoise.server.common_gate:common_gate")
PREDICTS.declare("common", "equipoise.server.common_gate:common")
PREDICTS.declare("common-correction", "equipoise.server.common_correction:common_correction")
PREDICTS.declare("common-exchange", "equipoise.server.common_exchange:common_exchange", traits=(SECOND_EXCHANGE,))
PREDICTS.declare("energy-gate", "equipoise.server.energy_gate:energy_gate")
PREDICTS.declare("feature-average", "equipoise.server.feature_average:feature_average", traits=(PROTOTYPES,))
PREDICTS.declare("anchors", "equipoise.server.feature_average:anchors", traits=(PROTOTYPES,))
PREDICTS.declare("iffi", "equipoise.server.iffi:iffi", traits=(PROTOTYPES,))
PREDICTS.declare("iffi-published", "equipoise.server.iffi:iffi_published", traits=(PROTOTYPES,))
PREDICTS.declare("nearest-mean", "equipoise.server.means:nearest_mean", traits=(MEANS,))
PREDICTS.declare(
    "parameter-average", "equipoise.server.predict:parameter_average", aliases=("model",), traits=(ONE_MODEL,)
)
PREDICTS.declare("probability-ensemble", "equipoise.server.predict:probability_ensemble")
PREDICTS.declare("logit-ensemble", "equipoise.server.predict:logit_ensemble")
PREDICTS.declare(
    "recalibrated-average",
    "equipoise.server.recalibrate:recalibrated_average",
    traits=(BATCH_NORM, ONE_MODEL, SECOND_EXCHANGE),
)
PREDICTS.declare(
    "statistics-exchange",
    "equipoise.server.statistics_exchange:statistics_exchange",
    traits=(SECOND_EXCHANGE,),
)
PREDICTS.declare("typicality-gate", "equipoise.server.typicality_gate:typicality_gate")

SUMMARIES.declare("energies", "equipoise.server.energy_gate:energies")
SUMMARIES.declare("typicality", "equipoise.server.typicality_gate:energies_and_classes")
SUMMARIES.declare("common-sums", "equipoise.server.common_gate:common_sums")
SUMMARIES.declare("common-joint-sums", "equipoise.server.common_exchange:common_joint_sums")
SUMMARIES.declare("joint-sums", "equipoise.server.statistics_exchange:joint_sums")
SUMMARIES.declare("local-accuracy", "equipoise.server.local_accuracy:local_accuracy")
SUMMARIES.declare("batch-statistics", "equipoise.server.recalibrate:batch_statistics")
