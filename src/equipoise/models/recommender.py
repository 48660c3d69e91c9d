"""A sequential recommender: SASRec alone, or with experts that read item images and item texts.

    score_tc = κ·(⟨LN(h_t), e_c⟩ + Σ_e w_ec·⟨O_e o_ec, e_c + t_e⟩) + b_c      learnable scale κ and item bias b
    cosine   = √D·cos(LN(h_t) + Σ_e w_ec·O_e o_ec, e_c)          as in the original report, an option

One function computes the scores everywhere: in training, in both protocols of the evaluation, with and without experts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.config.blocks import ModelOptions
from equipoise.core.values import State
from equipoise.data.interactions import MODALITIES, Features
from equipoise.models.experts import Expert, ExpertReading, RememberedRows, Router
from equipoise.models.sasrec import AttentionBackbone, ItemTable
from equipoise.models.settings import DmmrOptions, SasrecOptions
from equipoise.models.windows import Ranked, Windows

ExpertAnswer = tuple[Expert, ExpertReading, Tensor]
"""An expert, its result, and its weight [W, V] for every item."""


class Recommender(nn.Module):
    """`groups` names the sets of parameters that can be merged, frozen or staged together."""

    def __init__(self, options: SasrecOptions, n_items: int, features: Mapping[str, Features]) -> None:
        super().__init__()
        self.options = options
        self.items = ItemTable(n_items, options.width, self._is_dot)
        self.backbone = AttentionBackbone(options.width, options.blocks, options.heads, options.length)
        self.experts = nn.ModuleDict()
        self.router: Router | None = None
        if isinstance(options, DmmrOptions):
            for name, table in features.items():
                self.experts[name] = Expert(table, options.width, options.keys, options.fusion, self._is_dot)
            if len(features) > 1:
                widths = [table.rows.shape[1] for table in features.values()]
                self.router = Router(widths, options.width, options.router == "user")

    @property
    def tables(self) -> tuple[str, ...]:
        """Weights with one row per item."""
        return ("items.weight", "items.bias") if self._is_dot else ("items.weight",)

    @property
    def groups(self) -> dict[str, list[str]]:
        names = [name for name, _ in self.named_parameters()]
        kinds = ("backbone", "items", "experts", "router")
        found = {kind: [name for name in names if name.startswith(f"{kind}.")] for kind in kinds}
        return {kind: members for kind, members in found.items() if members}

    def forward(self, windows: Windows, common: State | None = None) -> Ranked:
        """Scores after every position. `common` is the global memory, [G, d] per modality; all windows read it too."""
        return self.rank(self.encode(windows), windows, common or {})

    def encode(self, windows: Windows) -> Tensor:
        """States [W, T, D] after each position."""
        states: Tensor = self.backbone(self.items(windows.items), windows)
        return states

    def item_terms(self, remembered: Tensor, common: State) -> list[RememberedRows]:
        """Each expert's terms of the remembered items [R] for all items; many windows can reuse them."""
        met = self.items.weight if self._is_dot else None
        named = zip(self.experts, self._experts, strict=True)
        return [one.rows(remembered, (one.table, one.present), common.get(name), met) for name, one in named]

    def rank(
        self, states: Tensor, windows: Windows, common: State, item_terms: Sequence[RememberedRows] = ()
    ) -> Ranked:
        """Scores of all items after states [W, Q, D]; experts' outputs are those of the windows' targets.

        With `item_terms`, the windows' memory holds row numbers of these terms instead of items."""
        if not self.experts:
            return self._dot(states) if self._is_dot else self._cosine(states)
        experts, met = self._experts, self.items.weight if self._is_dot else None
        named = zip(self.experts, experts, item_terms or repeat(None, len(experts)), strict=True)
        reads = [expert.read(windows, common.get(name), met, rows) for name, expert, rows in named]
        weights = self._weights(windows)
        said = list(zip(experts, reads, weights.unbind(1), strict=True))
        outputs = tuple(expert.outputs(read, windows.targets) for expert, read, _ in said)
        own = weights.gather(2, windows.targets[:, None].expand(-1, len(experts), -1)).transpose(1, 2)
        shares = self._shares(states, experts, outputs, own) if self.training else own[..., :0]
        ranked = self._dot(states, said) if self._is_dot else self._cosine(states, said)
        return ranked._replace(experts=outputs, weights=own, shares=shares)

    @property
    def _is_dot(self) -> bool:
        return self.options.scoring == "dot"

    @property
    def _experts(self) -> list[Expert]:
        return [self.experts[name] for name in self.experts]  # type: ignore[misc]

    def _shares(self, states: Tensor, experts: list[Expert], outputs: Sequence[Tensor], weights: Tensor) -> Tensor:
        """‖w_e·O_e o_e‖ divided by ‖LN(h)‖ + Σ_e ‖w_e·O_e o_e‖, for the targets: [W, T, experts]."""
        added = [expert.turned(output.detach()).detach() for expert, output in zip(experts, outputs, strict=True)]
        lengths = weights.detach() * torch.stack(added, -1).norm(dim=-2)
        whole = states.detach().norm(dim=-1, keepdim=True) + lengths.sum(-1, keepdim=True)
        shares: Tensor = lengths / whole.clamp_min(1e-12)
        return shares

    def _dot(self, states: Tensor, said: Sequence[ExpertAnswer] = ()) -> Ranked:
        items, offset = self.items, self.items.bias.expand(len(states), -1)
        if said:
            gains = [weight * expert.gain(read) for expert, read, weight in said]
            offset = offset + items.scale * torch.stack(gains).sum(0)
        return Ranked(items.scale * states, items.weight, offset)

    def _cosine(self, states: Tensor, said: Sequence[ExpertAnswer] = ()) -> Ranked:
        """With experts each item has a sum of its own length, so scores are computed here and become the offset."""
        table, root = F.normalize(self.items.weight, dim=1, eps=1e-6), self.options.width**0.5
        if not said:
            return Ranked(root * F.normalize(states, dim=-1), table, states.new_zeros(len(states), len(table)))
        added = self._added(said)
        squared = states.square().sum(-1, keepdim=True) + 2 * states @ added.transpose(-1, -2)
        lengths = (squared + added.square().sum(-1)[:, None]).clamp_min(1e-12).sqrt()
        scores = root * (states @ table.T + (added * table).sum(-1)[:, None]) / lengths
        return Ranked(states[..., :0], table[:, :0], scores)

    def _added(self, said: Sequence[ExpertAnswer]) -> Tensor:
        """Σ_e w_ec·O_e o_ec of every item: [W, V, D]."""
        windows, items = said[0][2].shape
        everything = torch.arange(items, device=said[0][2].device).expand(windows, -1)
        parts = [weight[..., None] * expert.turned(expert.outputs(read, everything)) for expert, read, weight in said]
        return torch.stack(parts).sum(0)

    def _weights(self, windows: Windows) -> Tensor:
        """Weights [W, experts, V]; a single expert has weight 1 for every item that it sees."""
        if self.router is None:
            (expert,) = self._experts
            return expert.held(windows)[1].float().expand(len(windows.items), 1, -1)
        return self.router(self._user(windows), self._experts, windows)  # type: ignore[no-any-return]

    def _user(self, windows: Windows) -> Tensor:
        """The normalised mean vector of the recent items [W, D]; 0 without recent items."""
        shares = windows.recent_valid / windows.recent_valid.sum(1, keepdim=True).clamp_min(1)
        mean = (self.items(windows.recent) * shares[..., None]).sum(1)
        return F.layer_norm(mean, mean.shape[-1:])


def sasrec(options: SasrecOptions, n_items: int, features: Mapping[str, Features]) -> Recommender:
    """SASRec: item ids alone; features are not read."""
    return Recommender(options, n_items, {})


def dmmr(options: DmmrOptions, n_items: int, features: Mapping[str, Features]) -> Recommender:
    """SASRec with experts for the modalities that the options name."""
    return Recommender(options, n_items, {name: features[name] for name in wanted(options)})


def wanted(options: ModelOptions) -> tuple[str, ...]:
    """The modalities that a model reads."""
    if not isinstance(options, DmmrOptions):
        return ()
    return {"visual": ("visual",), "semantic": ("text",), "both": MODALITIES}[options.experts]
