"""Encoders small enough to make in a test: a sentence-transformers model of eight words, and exported programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

WORDS = ["[UNK]", "red", "green", "blue", "ship", "tree", "house", "zero"]


def save_sentence_model(folder: Path, width: int = 6, seed: int = 7) -> Path:
    """A static embedding, as model.save writes it; the word `zero` has a row of zeros."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = torch.randn(len(WORDS), width, generator=torch.Generator().manual_seed(seed))
    weights[-1] = 0
    embedding = StaticEmbedding(tokenizer, embedding_weights=weights)
    SentenceTransformer(modules=[embedding], device="cpu").save(str(folder))
    return folder


class Means(nn.Module):
    """The mean of each channel, times a weight per channel: [B, 3, H, W] → [B, 3]."""

    def __init__(self, weights: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(weights))

    def forward(self, pixels: Tensor) -> Tensor:
        return pixels.mean(dim=(2, 3)) * self.weights


def save_program(path: Path, module: nn.Module | None = None, example: Tensor | None = None, batch: Any = None) -> Path:
    """A program of torch.export; `batch` is its first dimension, any number unless given, fixed where False."""
    example = torch.rand(2, 3, 8, 6) if example is None else example
    shapes = None if batch is False else ({0: batch or torch.export.Dim("B", min=1)},)
    program = torch.export.export((module or Means()).eval(), (example,), dynamic_shapes=shapes)
    torch.export.save(program, path)
    return path


def save_pictures(folder: Path, colours: dict[str, tuple[int, int, int]]) -> Path:
    """One picture of one colour per file name."""
    folder.mkdir(exist_ok=True)
    for name, colour in colours.items():
        Image.new("RGB", (10, 20), colour).save(folder / name)
    return folder
