"""SASRec: causal self-attention over the items that a user met.

    x_t = e_{i_t} + p_t        x ← x + drop(Attention(LN x))        x ← x + drop(FFN(LN x))        h = LN x

Windows are padded at the end, so the causal mask alone hides padding from every position that exists. Dropout masks are
part of the windows: each client draws its own, however many clients train together.
Source: Kang & McAuley, "Self-Attentive Sequential Recommendation", 2018; with normalisation before each layer.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.models.windows import Windows

START = 0.02
"""Standard deviation of the initial item and position vectors."""


class ItemTable(nn.Module):
    """Item vectors, used for input and for scoring; dot-product scoring adds a bias per item and a scale."""

    def __init__(self, n_items: int, width: int, is_dot: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(START * torch.randn(n_items, width))
        if is_dot:
            self.bias = nn.Parameter(torch.zeros(n_items))
            self.scale = nn.Parameter(torch.ones(()))

    def forward(self, items: Tensor) -> Tensor:
        return F.embedding(items, self.weight)


class AttentionBlock(nn.Module):
    """One layer of causal self-attention and a feed-forward layer, both residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention, self.norm_feed = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor, keep: tuple[Tensor, Tensor] | None) -> Tensor:
        attended, fed = keep or (None, None)
        x = x + dropped(self.attention(self.norm_attention(x)), attended)
        return x + dropped(self.narrow(F.relu(self.widen(self.norm_feed(x)))), fed)

    def attention(self, x: Tensor) -> Tensor:
        windows, length, width = x.shape
        split = self.mix(x).reshape(windows, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        ahead = torch.full((length, length), -torch.inf, device=x.device).triu(1)
        affinity = (query * (width // self.heads) ** -0.5) @ key.transpose(-1, -2)
        mixed = (affinity + ahead).softmax(-1) @ value
        joined: Tensor = self.out(mixed.transpose(1, 2).reshape(windows, length, width))
        return joined


class AttentionBackbone(nn.Module):
    """Position vectors and a stack of attention blocks."""

    def __init__(self, width: int, blocks: int, heads: int, length: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(START * torch.randn(length, width))
        self.blocks = nn.ModuleList(AttentionBlock(width, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)

    @property
    def n_masks(self) -> int:
        """Number of places with dropout: one after the sum of vectors, two in each block."""
        return 1 + 2 * len(self.blocks)

    def forward(self, vectors: Tensor, windows: Windows) -> Tensor:
        """States [W, T, D] after each position."""
        masks = windows.keep.unbind(0) if windows.keep.numel() else None
        x = dropped(vectors + self.positions[: vectors.shape[1]], masks[0] if masks else None)
        for number, block in enumerate(self.blocks):
            x = block(x, (masks[1 + 2 * number], masks[2 + 2 * number]) if masks else None)
        states: Tensor = self.norm(x)
        return states


def dropped(x: Tensor, mask: Tensor | None) -> Tensor:
    return x if mask is None else x * mask
