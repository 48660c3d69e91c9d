"""The terms that any method with labels can be given beside its own: `client.terms.NAME=WEIGHT`.

base + Σ w·term

contrast   the supervised contrast of the features, τ 0.07, as in `objective/contrast`
proximal   ½ ‖w − w_t‖² to what the server sent, as in `objective/align`
balanced   cross-entropy with logits moved by log n_c, as in `objective/classify`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.config.traits import STACKS
from equipoise.core.registry import TERMS

if TYPE_CHECKING:
    from torch import Tensor

    from equipoise.objective.compose import View


@TERMS.register("contrast", traits=(STACKS,))
def contrast(view: View) -> Tensor:
    from equipoise.objective.contrast import contrast as term

    return term()(view)


@TERMS.register("proximal", traits=(STACKS,))
def proximal(view: View) -> Tensor:
    from equipoise.objective.align import proximal as term

    return term(view)


@TERMS.register("balanced", traits=(STACKS,))
def balanced(view: View) -> Tensor:
    from equipoise.objective.classify import balanced_cross_entropy

    return balanced_cross_entropy(1.0)(view)
