"""Explains why a run failed, from what was recorded; needs no torch.

What a rule of your own needs stands here:

    from equipoise.diagnose import Limit, Limits, Recording, Remedy, Rule, Sign
"""

from equipoise.diagnose.finding import Finding, Sign, Verdict
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import RULES, Limit, Limits, Rule

__all__ = ["RULES", "Finding", "Limit", "Limits", "Recording", "Remedy", "Rule", "Sign", "Verdict"]
