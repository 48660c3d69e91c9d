"""A sequential recommender: SASRec alone, or with experts that read what items look like and what is said of them.

    score_tc = κ·(⟨LN(h_t), e_c⟩ + Σ_e w_ec·⟨O_e o_ec, e_c + t_e⟩) + b_c      learnable scale κ and item bias b
    cosine   = √D·cos(LN(h_t) + Σ_e w_ec·O_e o_ec, e_c)          the report's, an option

One function scores everywhere: in training, in both protocols of the evaluation, with and without experts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.config.blocks import ModelOptions
from equipoise.core.registry import MODELS
from equipoise.core.values import State
from equipoise.data.interactions import Features
from equipoise.models.experts import Expert, Fusion, Read, Router
from equipoise.models.sasrec import Backbone, Items
from equipoise.models.windows import Ranked, Windows

MODALITIES = ("visual", "text")


class SasrecOptions(ModelOptions):
    name: str = "sasrec"
    width: int = Field(128, ge=1, description="D, the length of item vectors and states")
    blocks: int = Field(2, ge=1, description="layers of self-attention")
    heads: int = Field(4, ge=1, description="attention heads of a layer; they divide the width")
    length: int = Field(50, ge=1, description="T, positions of a window")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of a layer's output that is dropped in training")
    scoring: Literal["dot", "cosine"] = Field("dot", description="dot product with scale and bias, or √D·cosine")


class DmmrOptions(SasrecOptions):
    name: str = "dmmr"
    experts: Literal["visual", "semantic", "both"] = Field("both", description="which modalities are read")
    keys: int = Field(64, ge=1, description="width of the experts' queries and keys")
    fusion: Fusion = Field("zero", description="how experts join: zero (ours), identity (the report), or two failures")
    router: Literal["user", "item"] = Field("user", description="weights by user and item, or by the item alone")


class Recommender(nn.Module):
    """`groups` names the parameters that are merged, frozen or staged together."""

    stacks = True
    """Whether many clients' weights can be trained along a leading axis."""
    tables = ("items.weight", "items.bias")
    """Weights with one row per item."""

    def __init__(self, options: SasrecOptions, n_items: int, features: Mapping[str, Features]) -> None:
        super().__init__()
        self.options = options
        self.items = Items(n_items, options.width)
        self.backbone = Backbone(options.width, options.blocks, options.heads, options.length)
        self.experts = nn.ModuleDict()
        self.router: Router | None = None
        if isinstance(options, DmmrOptions):
            for name, table in features.items():
                has_taste = options.scoring == "dot"
                self.experts[name] = Expert(table, options.width, options.keys, options.fusion, has_taste)
            widths = [table.rows.shape[1] for table in features.values()]
            self.router = Router(widths, options.width, options.router == "user")

    @property
    def groups(self) -> dict[str, list[str]]:
        names = [name for name, _ in self.named_parameters()]
        kinds = ("backbone", "items", "experts", "router")
        found = {kind: [name for name in names if name.startswith(f"{kind}.")] for kind in kinds}
        return {kind: members for kind, members in found.items() if members}

    def forward(self, windows: Windows, common: State | None = None) -> Ranked:
        """`common`: rows of the global memory, [G, d] of each modality, which every window reads as well."""
        return self.rank(self.encode(windows), windows, common or {})

    def encode(self, windows: Windows) -> Tensor:
        states: Tensor = self.backbone(self.items(windows.items), windows)
        return states

    def rank(self, states: Tensor, windows: Windows, common: State) -> Ranked:
        """Scores of all items after states [W, Q, D]; experts' outputs are of the windows' targets."""
        if self.router is None:
            none = states.new_zeros(*windows.targets.shape, 0)
            return Ranked(self._score(states, self._scaled(states) @ self.items.weight.T, None), (), none)
        experts: list[Expert] = [self.experts[name] for name in self.experts]  # type: ignore[misc]
        reads = [expert.read(windows, common.get(name)) for name, expert in zip(self.experts, experts, strict=True)]
        parts = [states, *(expert.rows(read) for expert, read in zip(experts, reads, strict=True))]
        sizes, scaled = [part.shape[1] for part in parts], self._scaled(torch.cat(parts, 1))
        product, *met = torch.split(scaled @ self.items.weight.T, sizes, 1)
        weights = self.router(self._user(windows), experts, windows)
        rows = torch.split(scaled, sizes, 1)[1:]
        for k, (expert, read) in enumerate(zip(experts, reads, strict=True)):
            product = product + (weights[..., k] * expert.gain(read, rows[k], met[k]))[:, None]
        added = self._added(weights, experts, reads) if self.options.scoring == "cosine" else None
        chosen = windows.targets[..., None].expand(-1, -1, len(experts))
        return Ranked(
            self._score(states, product, added),
            tuple(expert.outputs(read, windows.targets) for expert, read in zip(experts, reads, strict=True)),
            weights.gather(1, chosen),
        )

    def _scaled(self, rows: Tensor) -> Tensor:
        """κ is taken here, where there are few numbers to multiply."""
        return self.items.scale * rows if self.options.scoring == "dot" else rows

    def _score(self, states: Tensor, product: Tensor, added: Tensor | None) -> Tensor:
        """`product` [W, Q, V] is ⟨state + added, e⟩; `added` [W, V, D] is needed where cosines are taken."""
        if self.options.scoring == "dot":
            return product + self.items.bias
        squared = states.square().sum(-1, keepdim=True)
        if added is not None:
            squared = squared + 2 * states @ added.transpose(-1, -2) + added.square().sum(-1)[:, None]
        lengths = squared.clamp_min(1e-12).sqrt() * self.items.weight.norm(dim=1).clamp_min(1e-6)
        scores: Tensor = self.options.width**0.5 * product / lengths
        return scores

    def _added(self, weights: Tensor, experts: list[Expert], reads: list[Read]) -> Tensor:
        """Σ_e w_ec·O_e o_ec of every item, [W, V, D]."""
        everything = torch.arange(weights.shape[1], device=weights.device).expand(len(weights), -1)
        parts = [expert.turned(expert.outputs(read, everything)) for expert, read in zip(experts, reads, strict=True)]
        return (torch.stack(parts, -1) * weights[:, :, None]).sum(-1)

    def _user(self, windows: Windows) -> Tensor:
        """The mean vector of the recent items, normalised; zero where there are none: [W, D]."""
        shares = windows.recent_valid / windows.recent_valid.sum(1, keepdim=True).clamp_min(1)
        mean = (self.items(windows.recent) * shares[..., None]).sum(1)
        return F.layer_norm(mean, mean.shape[-1:])


@MODELS.register("sasrec", options=SasrecOptions, traits=("interactions",))
def sasrec(options: SasrecOptions, n_items: int, features: Mapping[str, Features]) -> Recommender:
    return Recommender(options, n_items, {})


@MODELS.register("dmmr", options=DmmrOptions, traits=("interactions",))
def dmmr(options: DmmrOptions, n_items: int, features: Mapping[str, Features]) -> Recommender:
    return Recommender(options, n_items, {name: features[name] for name in wanted(options)})


def wanted(options: ModelOptions) -> tuple[str, ...]:
    """The modalities that a model reads."""
    if not isinstance(options, DmmrOptions):
        return ()
    return {"visual": ("visual",), "semantic": ("text",), "both": MODALITIES}[options.experts]
