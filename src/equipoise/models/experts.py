"""An expert reads one modality of the client's memory on behalf of every item; a router weighs the experts.

    a_rc = softmax_r(⟨Q f_c, K m_r⟩/√k)       o_c = LN(Σ_r a_rc U m_r)      O starts at zero
    score of item c gains w_c·⟨O o_c, e_c + t⟩      w_c = softmax over experts that see c of ⟨B u, f_c⟩ + b

t is learnt and common to all items: what the output says of an item counts even where nothing is known of its e_c.
f_c are the item's features, m_r those of a memory row (and one learnt row for "nothing here fits"), u the user's
recent items. The normalised output of all V items is never formed. With ũ_r = U m_r less its own mean,

    ⟨O LN(Σ_r a_r u_r), e⟩ = Σ_r a_r ⟨O(γ∘ũ_r), e⟩ / √(Σ_rs a_r a_s ⟨ũ_r, ũ_s⟩/D + ε) + ⟨Oβ, e⟩

which is exact and costs V·rows instead of V·D. Source: ours, after the fifth original report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.data.interactions import Features
from equipoise.models.windows import Windows

Fusion = Literal["zero", "identity", "gate", "disconnected"]
"""Where O starts, or what takes its place: O = 0 (ours), O = I fixed (the report), and two failures kept by name: I
behind a gate of 0.1, and a learnable gate that nothing reads."""
EPSILON = 1e-5
SHARPNESS = 8.0
"""The affinity of two equal feature rows at the start; orthogonal rows start near 0."""
NOTHING = 3.0
"""The affinity of the row for "nothing here fits" at the start: that of twenty rows that have nothing to do with it."""
GATE = 0.1


class Read(NamedTuple):
    """What an expert found for all items: attention [W, R, V], centred values [W, R, D], 1/deviation [W, V]."""

    attention: Tensor
    values: Tensor
    inverse: Tensor


class Expert(nn.Module):
    """Feature rows are taken less their common mean, of length 1: what all share says nothing about any of them."""

    table: Tensor
    present: Tensor
    centre: Tensor

    def __init__(self, features: Features, width: int, keys: int, fusion: Fusion, has_taste: bool = True) -> None:
        super().__init__()
        rows, present = torch.tensor(features.rows), torch.tensor(features.present)
        centre = rows[present].mean(0)
        self.register_buffer("centre", centre, persistent=False)
        self.register_buffer("table", F.normalize(rows - centre, dim=1) * present[:, None], persistent=False)
        self.register_buffer("present", present, persistent=False)
        near = (SHARPNESS / keys**0.5) ** 0.5 * torch.randn(keys, rows.shape[1])
        self.query, self.key = nn.Parameter(near.clone()), nn.Parameter(near.clone())
        self.value = nn.Parameter(torch.randn(width, rows.shape[1]))
        self.no_key, self.no_value = nn.Parameter(torch.zeros(keys)), nn.Parameter(torch.randn(width) * width**-0.5)
        self.no_bias = nn.Parameter(torch.tensor(NOTHING))
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.out = nn.Parameter(torch.zeros(width, width)) if fusion == "zero" else None
        self.taste = nn.Parameter(torch.randn(width) * width**-0.5) if has_taste and fusion == "zero" else None
        self.gate = nn.Parameter(torch.tensor(GATE)) if fusion == "disconnected" else None
        self.is_gated = fusion == "gate"

    def held(self, told: Windows) -> tuple[Tensor, Tensor]:
        """Features and presence of the items whose rows the client holds."""
        return (self.table[told.rows], self.present[told.rows]) if told.rows.numel() else (self.table, self.present)

    def read(self, told: Windows, common: Tensor | None) -> Read:
        """Every item over the rows that each window remembers, and the common ones [G, d]."""
        windows, width, table = len(told.memory), self.no_value.shape[0], self.held(told)[0]
        memory = table[told.memory]
        extra = 1 if common is None else 1 + len(common)
        if common is not None:
            placed = F.normalize(common - self.centre, dim=1)
            memory = torch.cat([memory, placed.expand(windows, -1, -1)], 1)
        seen = torch.cat([told.memory_valid, told.memory_valid.new_ones(windows, extra)], 1)
        keys = torch.cat([memory @ self.key.T, self.no_key.expand(windows, 1, -1)], 1) * len(self.no_key) ** -0.5
        bias = torch.cat([seen[:, :-1].float().log(), self.no_bias.expand(windows, 1)], 1)
        affinity = torch.linalg.multi_dot([keys.flatten(0, 1), self.query, table.T]).unflatten(0, keys.shape[:2])
        attention = (affinity + bias[..., None]).softmax(1)
        values = torch.cat([memory @ self.value.T, self.no_value.expand(windows, 1, -1)], 1)
        values = values - values.mean(-1, keepdim=True)
        covariance = values @ values.transpose(-1, -2) / width
        variance = torch.linalg.vecdot(covariance @ attention, attention, dim=1)
        return Read(attention, values, (variance + EPSILON).rsqrt())

    def rows(self, read: Read) -> tuple[Tensor, Tensor]:
        """What meets the item table: O(γ∘ũ_r) of every row [W, R, D], and Oβ [W, 1, D]."""
        shift = self.norm.bias.expand(len(read.values), 1, -1)
        return self.turned(read.values * self.norm.weight), self.turned(shift)

    def gain(self, read: Read, rows: Sequence[Tensor], met: Sequence[Tensor]) -> Tensor:
        """⟨O o_c, e_c + t⟩ of every item, [W, V], from the rows above and ⟨row, e_c⟩."""
        found, shift = torch.linalg.vecdot(met[0], read.attention, dim=1), met[1][:, 0]
        if self.taste is not None:
            found = found + ((rows[0] @ self.taste)[:, None] @ read.attention)[:, 0]
            shift = shift + rows[1][:, 0] @ self.taste[:, None]
        gained: Tensor = found * read.inverse + shift
        return gained

    def outputs(self, read: Read, chosen: Tensor) -> Tensor:
        """o_c of the chosen items [W, T] of each window: [W, T, D]."""
        rows = chosen[:, None].expand(-1, read.attention.shape[1], -1)
        mixed = read.attention.gather(2, rows).transpose(1, 2) @ read.values
        return mixed * read.inverse.gather(1, chosen)[..., None] * self.norm.weight + self.norm.bias

    def turned(self, outputs: Tensor) -> Tensor:
        """O o, what is added to the state."""
        added = outputs if self.out is None else outputs @ self.out.T
        return GATE * added if self.is_gated else added


class Router(nn.Module):
    """`reads_user` false: the report's router, which sees the item alone."""

    def __init__(self, widths: list[int], width: int, reads_user: bool) -> None:
        super().__init__()
        inner = width if reads_user else 1
        self.bilinear = nn.ParameterList(torch.zeros(inner, features) for features in widths)
        self.bias = nn.Parameter(torch.zeros(len(widths)))
        self.reads_user = reads_user

    def forward(self, user: Tensor, experts: list[Expert], told: Windows) -> Tensor:
        """Weights [W, V, experts]; 0 for an expert that does not see the item."""
        who = user if self.reads_user else user.new_ones(len(user), 1)
        tables, seen = zip(*(expert.held(told) for expert in experts), strict=True)
        logits = [who @ form @ table.T for form, table in zip(self.bilinear, tables, strict=True)]
        present = torch.stack(seen, -1)
        both = (torch.stack(logits, -1) + self.bias).masked_fill(~present, -torch.inf)
        alone = present.any(-1, keepdim=True)  # an item that nobody sees has no softmax
        return both.masked_fill(~alone, 0.0).softmax(-1) * present
