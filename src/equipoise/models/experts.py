"""An expert scores all items by one modality of the client's memory; a router weighs the experts.

    a_rc = softmax_r(⟨Q f_c, K m_r⟩/√k)       o_c = LN(Σ_r a_rc U m_r)      O starts at zero
    score of item c gains w_c·⟨O o_c, e_c + t⟩      w_c = softmax over experts that see c of ⟨B u, f_c⟩ + b

f_c are the features of item c, m_r those of a memory row. One learnt row stands for "no row fits". u describes the
user's recent items. t is learnt and shared by all items: through it the expert also counts for items whose e_c has
not been trained. The normalised output of all V items is never computed. With ũ_r = U m_r minus its own mean,

    ⟨O LN(Σ_r a_r u_r), e⟩ = Σ_r a_r ⟨O(γ∘ũ_r), e⟩ / √(Σ_rs a_r a_s ⟨ũ_r, ũ_s⟩/D + ε) + ⟨Oβ, e⟩

which is exact and costs V·rows instead of V·D. Source: ours, after the fifth original report.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.config.choices import Fusion
from equipoise.data.interactions import Features
from equipoise.models.windows import Windows

EPSILON = 1e-5
SHARPNESS = 8.0
"""Initial affinity of two equal feature rows; that of orthogonal rows is near 0."""
NOTHING = 3.0
"""Initial affinity of the row for "no row fits": as much weight as twenty unrelated rows."""
GATE = 0.1
"""Fixed weight of an expert with fusion `gate`, and initial value of the gate that nothing reads (`disconnected`)."""


HeldFeatures = tuple[Tensor, Tensor]
"""Features [V, d] of items, and which items have features [V]."""


class RememberedRows(NamedTuple):
    """Terms of memory rows for every item; the learnt row is the last.

    there         [..., R]      whether the row has features in this modality
    affinity      [..., R, V]   ⟨Q f_c, K m_r⟩/√k
    values        [..., R, D]   ũ_r
    item_scores   [..., R, V]   ⟨O(γ∘ũ_r), e_c + t⟩
    floor         [V]           ⟨Oβ, e_c + t⟩, the part that does not depend on rows
    """

    there: Tensor
    affinity: Tensor
    values: Tensor
    item_scores: Tensor
    floor: Tensor

    def taken(self, memory: Tensor, shared: int) -> RememberedRows:
        """The rows `memory` [W, M] of each window, followed by the last `shared` rows, which all windows read."""
        last = torch.arange(len(self.values) - shared, len(self.values), device=memory.device)
        at = torch.cat([memory, last.expand(len(memory), -1)], 1)
        return RememberedRows(self.there[at], self.affinity[at], self.values[at], self.item_scores[at], self.floor)


class ExpertReading(NamedTuple):
    """The result of an expert for all items: its rows, attention [W, R, V] and 1/deviation [W, V]."""

    rows: RememberedRows
    attention: Tensor
    inverse: Tensor


class Expert(nn.Module):
    """Reads one modality. The common mean is subtracted from feature rows, which are then scaled to length 1."""

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

    def held(self, windows: Windows) -> HeldFeatures:
        """Features and presence of the items whose table rows the client holds."""
        return (
            (self.table[windows.rows], self.present[windows.rows])
            if windows.rows.numel()
            else (self.table, self.present)
        )

    def rows(self, memory: Tensor, held: HeldFeatures, common: Tensor | None, items: Tensor | None) -> RememberedRows:
        """Terms of remembered items [..., R], then of the common rows [G, d], then of the learnt row.

        `items` [V, D] are the e_c; without them item scores are left empty."""
        table, there = held[0], held[1][memory]
        memory = table[memory]
        if common is not None:
            known = common.ne(0).any(1)
            placed = F.normalize(common - self.centre, dim=1)
            memory = torch.cat([memory, placed.expand(*memory.shape[:-2], -1, -1)], -2)
            there = torch.cat([there, known.expand(*there.shape[:-1], -1)], -1)
        one = (*memory.shape[:-2], 1, -1)
        there = torch.cat([there, there.new_ones(*there.shape[:-1], 1)], -1)
        keys = torch.cat([memory @ self.key.T, self.no_key.expand(one)], -2) * len(self.no_key) ** -0.5
        affinity = torch.linalg.multi_dot([keys.flatten(0, -2), self.query, table.T]).unflatten(0, keys.shape[:-1])
        values = torch.cat([memory @ self.value.T, self.no_value.expand(one)], -2)
        values = values - values.mean(-1, keepdim=True)
        if items is None:
            return RememberedRows(there, affinity, values, values[..., :0], values[..., :0])
        met = items if self.taste is None else items + self.taste
        said = torch.cat([(values * self.norm.weight).flatten(0, -2), self.norm.bias[None]])
        item_scores, floor = torch.split(self.turned(said) @ met.T, [len(said) - 1, 1])
        return RememberedRows(there, affinity, values, item_scores.reshape(*values.shape[:-1], -1), floor[0])

    def read(
        self, windows: Windows, common: Tensor | None, items: Tensor | None, item_terms: RememberedRows | None = None
    ) -> ExpertReading:
        """Attend, for every item, to the rows of each window and the common rows; reuses `item_terms` where given."""
        shared = 1 if common is None else 1 + len(common)
        if item_terms is None:
            rows = self.rows(windows.memory, self.held(windows), common, items)
        else:
            rows = item_terms.taken(windows.memory, shared)
        valid = torch.cat([windows.memory_valid, windows.memory_valid.new_ones(len(windows.memory), shared)], 1)
        seen = valid & rows.there
        bias = torch.cat([seen[:, :-1].float().log(), self.no_bias.expand(len(seen), 1)], 1)
        attention = (rows.affinity + bias[..., None]).softmax(1)
        covariance = rows.values @ rows.values.transpose(-1, -2) / rows.values.shape[-1]
        variance = torch.linalg.vecdot(covariance @ attention, attention, dim=1)
        return ExpertReading(rows, attention, (variance + EPSILON).rsqrt())

    def gain(self, read: ExpertReading) -> Tensor:
        """⟨O o_c, e_c + t⟩ of every item: [W, V]."""
        found: Tensor = torch.linalg.vecdot(read.rows.item_scores, read.attention, dim=1)
        return found * read.inverse + read.rows.floor

    def outputs(self, read: ExpertReading, chosen: Tensor) -> Tensor:
        """o_c of the chosen items [W, T] of each window: [W, T, D]."""
        rows = chosen[:, None].expand(-1, read.attention.shape[1], -1)
        mixed = read.attention.gather(2, rows).transpose(1, 2) @ read.rows.values
        return mixed * read.inverse.gather(1, chosen)[..., None] * self.norm.weight + self.norm.bias

    def turned(self, outputs: Tensor) -> Tensor:
        """O o, which is added to the state."""
        added = outputs if self.out is None else outputs @ self.out.T
        return GATE * added if self.is_gated else added


class Router(nn.Module):
    """Weighs the experts by user and item; with `reads_user` false by the item alone, as in the original report."""

    def __init__(self, widths: list[int], width: int, reads_user: bool) -> None:
        super().__init__()
        inner = width if reads_user else 1
        self.bilinear = nn.ParameterList(torch.zeros(inner, features) for features in widths)
        self.bias = nn.Parameter(torch.zeros(len(widths)))
        self.reads_user = reads_user

    def forward(self, user: Tensor, experts: list[Expert], windows: Windows) -> Tensor:
        """Weights [W, experts, V]; 0 for an expert that does not see the item."""
        who = user if self.reads_user else user.new_ones(len(user), 1)
        tables, seen = zip(*(expert.held(windows) for expert in experts), strict=True)
        logits = [who @ form @ table.T for form, table in zip(self.bilinear, tables, strict=True)]
        present = torch.stack(seen)
        both = (torch.stack(logits, 1) + self.bias[:, None]).masked_fill(~present, -torch.inf)
        alone = present.any(0)  # a softmax over no expert is not defined
        return both.masked_fill(~alone, 0.0).softmax(1) * present
