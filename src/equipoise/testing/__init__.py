"""Our contract tests as functions, for plugins. Each checks a registered thing, given its name.

    from equipoise.testing import check_method

    def test_my_method_keeps_its_promises():
        check_method("mine")

They train on a few of the embedded digits and take seconds. The plugin must be loaded first: import its module in the
test, or install its package. A failure is an AssertionError that says which promise was broken.
"""

from __future__ import annotations

from equipoise.testing.datasets import check_dataset
from equipoise.testing.engines import check_engine
from equipoise.testing.kinds import check_kind
from equipoise.testing.merges import check_merge
from equipoise.testing.methods import check_method
from equipoise.testing.models import check_model
from equipoise.testing.policies import check_policy
from equipoise.testing.predictors import check_predictor
from equipoise.testing.rules import check_rule, recording_of
from equipoise.testing.splitters import check_splitter
from equipoise.testing.terms import check_term

__all__ = [
    "check_dataset",
    "check_engine",
    "check_kind",
    "check_merge",
    "check_method",
    "check_model",
    "check_policy",
    "check_predictor",
    "check_rule",
    "check_splitter",
    "check_term",
    "recording_of",
]
