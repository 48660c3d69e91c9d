"""The recommender in its obvious form: each prefix of a history and each candidate item is computed by itself.

The formulas are those of `models.recommender` and `models.experts`, written out directly. Weights and their names are
the same, so both programs share our training loop, batches and objective, and take the same steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from equipoise.client.histories import HistoryFeed
from equipoise.client.history_work import HistoryWork
from equipoise.client.recipe import Recipe
from equipoise.core.values import State, Task
from equipoise.kind.histories.site import HistorySite
from equipoise.models.experts import Expert
from equipoise.models.recommender import Recommender
from equipoise.models.windows import Ranked, Windows


class Remembered(NamedTuple):
    """An expert's view of each sample's memory rows and of the row for "no row fits": keys [B, R, k], values [B, R, D],
    and the bias of each row [B, R], which is −∞ for padding."""

    keys: Tensor
    values: Tensor
    bias: Tensor


class PlainRecommender(Recommender):
    """For a loss over drawn negatives: only drawn items are scored."""

    def forward(self, windows: Windows, common: State | None = None) -> Ranked:
        row, end = windows.valid.nonzero().unbind(1)
        prefixes = windows.items[row].where(torch.arange(windows.items.shape[1]) <= end[:, None], 0)
        samples = windows._replace(items=prefixes, keep=windows.keep[:, row] if windows.keep.numel() else windows.keep)
        states, user = self.encode(samples)[torch.arange(len(row)), end], self._user(windows)[row]
        experts: list[Expert] = [self.experts[name] for name in self.experts]  # type: ignore[misc]
        memories = [Remembered(*(part[row] for part in remembered(expert, windows))) for expert in experts]
        chosen = torch.cat([windows.targets[row, end][:, None], windows.negatives.expand(len(row), -1)], 1)
        columns, said, weights = [], [], []
        for item in chosen.unbind(1):
            said.append([answer(expert, memory, item) for expert, memory in zip(experts, memories, strict=True)])
            weights.append(self.routed(user, experts, item))
            columns.append(self.score(states, item, experts, said[-1], weights[-1]))
        scores = torch.zeros(len(row), len(self.items.weight)).scatter(1, chosen, torch.stack(columns, 1))
        outputs, own = tuple(_placed(output, windows) for output in said[0]), _placed(weights[0], windows)
        no_product = (states.new_zeros(*windows.items.shape, 0), self.items.weight[:, :0])
        return Ranked(*no_product, _placed(scores, windows), outputs, own, torch.zeros_like(own).detach())

    def score(self, states: Tensor, item: Tensor, experts: list[Expert], said: list[Tensor], weights: Tensor) -> Tensor:
        """κ·(⟨h, e⟩ + Σ_e w_e·⟨O_e o_e, e + t_e⟩) + b of one item [B] per sample."""
        vector = self.items(item)
        found: Tensor = (states * vector).sum(1)
        for expert, output, weight in zip(experts, said, weights.unbind(1), strict=True):
            assert expert.taste is not None
            found = found + weight * (expert.turned(output) * (vector + expert.taste)).sum(1)
        return self.items.scale * found + self.items.bias[item]

    def routed(self, user: Tensor, experts: list[Expert], item: Tensor) -> Tensor:
        """The router's weights of one item [B] per sample: [B, experts]."""
        assert self.router is not None
        forms = zip(self.router.bilinear, experts, strict=True)
        logits = torch.stack([(user @ form * expert.table[item]).sum(1) for form, expert in forms], 1)
        present = torch.stack([expert.present[item] for expert in experts], 1)
        seen = (logits + self.router.bias).masked_fill(~present, -1e9).softmax(1)
        return seen * present


def remembered(expert: Expert, windows: Windows) -> Remembered:
    rows, n = expert.table[windows.memory], len(windows.memory)
    keys = torch.cat([rows @ expert.key.T, expert.no_key.expand(n, 1, -1)], 1)
    values = torch.cat([rows @ expert.value.T, expert.no_value.expand(n, 1, -1)], 1)
    return Remembered(keys, values, torch.cat([windows.memory_valid.float().log(), expert.no_bias.expand(n, 1)], 1))


def answer(expert: Expert, memory: Remembered, item: Tensor) -> Tensor:
    """o = LN(Σ_r a_r U m_r), a = softmax_r ⟨Q f, K m_r⟩/√k, of one item [B] per sample: [B, D]."""
    query = (expert.table[item] @ expert.query.T) * len(expert.no_key) ** -0.5
    attention = ((memory.keys @ query[..., None])[..., 0] + memory.bias).softmax(1)
    found: Tensor = expert.norm((attention[:, None] @ memory.values)[:, 0])
    return found


def _placed(samples: Tensor, windows: Windows) -> Tensor:
    """[B, …] → [W, T, …], zero for padding."""
    whole = samples.new_zeros(*windows.valid.shape, *samples.shape[1:])
    return whole.index_put(tuple(windows.valid.nonzero().unbind(1)), samples)


def plain_recipe(site: HistorySite) -> Recipe:
    """The site's recipe with the plain network; a client holds the whole item table."""
    recipe = site.recipe()
    assert isinstance(recipe.work, HistoryWork)
    assert isinstance(recipe.model, Recommender)
    work = replace(recipe.work, holds_rows=False)
    features = {name: site.features[name] for name in recipe.model.experts}
    model = PlainRecommender(recipe.model.options, site.histories.interactions.n_items, features)

    def feed(task: Task) -> HistoryFeed:
        return HistoryFeed(work, task, [site.history(user, task.step) for user in site.users[task.client]])

    return replace(recipe, model=model, work=work, feed=feed)
