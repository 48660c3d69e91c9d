"""Tables of scores: no weights, nothing to send down or to train. The server solves the tables (`server/item_tables`).

A method in closed form needs this model, and no other method can use it.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from equipoise.data.interactions import Features
from equipoise.models.settings import ItemTablesOptions


class ItemTables(nn.Module):
    groups: Mapping[str, list[str]] = {}


def item_tables(options: ItemTablesOptions, n_items: int, features: Mapping[str, Features]) -> ItemTables:
    return ItemTables()
