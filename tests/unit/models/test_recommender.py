"""The recommender against its formula written out, item by item."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.data.interactions import Features
from equipoise.models.build import build_recommender
from equipoise.models.experts import Expert
from equipoise.models.recommender import DmmrOptions, Recommender, SasrecOptions
from equipoise.models.windows import Windows
from equipoise.objective.recommend import per_position

V, D, T, M = 40, 16, 8, 5
NONE = torch.empty(0, dtype=torch.int64)


def features(name: str, width: int, seed: int) -> Features:
    rows = np.random.default_rng(seed).standard_normal((V, width)).astype(np.float32)
    present = np.ones(V, dtype=bool)
    present[[3, 7]] = False
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True) * present[:, None]
    return Features(name, rows, present)


def both() -> dict[str, Features]:
    text = features("text", 6, 2)
    return {"visual": features("visual", 9, 1), "text": Features("text", text.rows, np.arange(V) != 11)}


def model(**options) -> Recommender:
    """Moved away from its start, where the experts are silent."""
    small = {"width": D, "blocks": 2, "heads": 2, "length": T, "keys": 4}
    built = build_recommender(DmmrOptions(**(small | options)), V, both(), 0)
    generator = torch.Generator().manual_seed(5)
    for parameter in built.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=generator)
    return built


def windows(lengths=(T, 5), memory=(M, 2), seed: int = 3) -> Windows:
    draw = torch.Generator().manual_seed(seed)
    n = len(lengths)

    def items(width: int) -> Tensor:
        return torch.randint(V, (n, width), generator=draw)

    tables = [items(T), items(T), items(3), items(M)]
    tables[3][:, 0] = 7  # of which no picture is known
    return Windows(
        items=tables[0],
        targets=tables[1],
        valid=torch.arange(T) < torch.tensor(lengths)[:, None],
        recent=tables[2],
        recent_valid=torch.arange(3) < torch.tensor([[3], [1]])[:n],
        memory=tables[3],
        memory_valid=torch.arange(M) < torch.tensor(memory)[:, None],
        level=torch.zeros(2),
        keep=torch.empty(0),
        rows=NONE,
        met=torch.zeros(n, V, dtype=torch.bool),
        negatives=NONE,
    )


def remembered(expert: Expert, report: Windows, w: int) -> Tensor:
    """Features of the items that a window's memory holds, as far as there are any."""
    held = report.memory[w][report.memory_valid[w]]
    return expert.table[held[expert.present[held]]]


def of_everybody() -> dict[str, Tensor]:
    """A global memory of two rows, of the second of which no text is known."""
    visual = torch.randn(2, 9, generator=torch.Generator().manual_seed(1))
    return {"visual": visual, "text": torch.tensor([[1.0], [0.0]]).expand(2, 6)}


def written_out(built: Recommender, report: Windows, common: dict[str, Tensor]) -> Tensor:
    """Scores by the definition: one item at a time, every vector formed."""
    states, table, options = built.encode(report), built.items.weight, built.options
    scores = torch.empty(*report.items.shape, V)
    for w in range(len(report.items)):
        known = table[report.recent[w][report.recent_valid[w]]]
        user = F.layer_norm(known.mean(0), (D,)) if len(known) else torch.zeros(D)
        for c in range(V):
            added, tasted, weights = torch.zeros(D), torch.tensor(0.0), {}
            for k, (name, expert) in enumerate(built.experts.items()):
                if expert.present[c]:
                    who, router = user if options.router == "user" else torch.ones(1), built.router
                    logit = who @ router.bilinear[k] @ expert.table[c] + router.bias[k] if router else torch.tensor(0.0)
                    weights[name] = logit
            shares = torch.stack(list(weights.values())).softmax(0) if weights else []
            for share, name in zip(shares, weights, strict=True):
                expert = built.experts[name]
                rows = remembered(expert, report, w)
                if name in common:
                    known = common[name][common[name].any(1)]
                    rows = torch.cat([rows, F.normalize(known - expert.centre, dim=1)])
                keys = torch.cat([rows @ expert.key.T, expert.no_key[None]])
                values = torch.cat([rows @ expert.value.T, expert.no_value[None]])
                affinity = keys @ (expert.query @ expert.table[c]) / 4**0.5
                affinity[-1] += expert.no_bias
                attention = affinity.softmax(0)
                out = expert.norm(attention @ values)
                out = out if expert.out is None else expert.out @ out
                added = added + share * out * (0.1 if options.fusion == "gate" else 1)
                tasted = tasted + (0 if expert.taste is None else share * (out @ expert.taste))
            for t in range(T):
                fused = states[w, t] + added
                if options.scoring == "dot":
                    scores[w, t, c] = built.items.scale * (fused @ table[c] + tasted) + built.items.bias[c]
                else:
                    scores[w, t, c] = D**0.5 * F.cosine_similarity(fused, table[c], dim=0)
    return scores


@pytest.mark.parametrize("scoring", ["dot", "cosine"])
@pytest.mark.parametrize("fusion", ["zero", "identity", "gate", "disconnected"])
def test_scores_are_the_formula_written_out(fusion, scoring):
    built, report = model(fusion=fusion, scoring=scoring), windows()
    for rows in ({}, of_everybody()):
        assert torch.allclose(built(report, rows).scores, written_out(built, report, rows), atol=2e-5)


@pytest.mark.parametrize("scoring", ["dot", "cosine"])
def test_rows_from_a_shelf_are_the_windows_own(scoring):
    built, report = model(scoring=scoring), windows()
    for rows in ({}, of_everybody()):
        items, places = report.memory.unique(return_inverse=True)
        shelved = report._replace(memory=places)
        ranked = built.rank(built.encode(report), shelved, rows, built.item_terms(items, rows))
        assert torch.allclose(ranked.scores, written_out(built, report, rows), atol=2e-5)


@pytest.mark.parametrize("options", [{"router": "item"}, {"experts": "visual"}, {"experts": "semantic"}])
def test_the_other_models_too(options):
    built, report = model(**options), windows()
    assert torch.allclose(built(report).scores, written_out(built, report, {}), atol=2e-5)


def test_the_experts_outputs_are_those_of_the_targets():
    built, report = model(), windows()
    ranked = built(report)
    expert = built.experts["visual"]
    rows = remembered(expert, report, 1)
    keys = torch.cat([rows @ expert.key.T, expert.no_key[None]])
    values = torch.cat([rows @ expert.value.T, expert.no_value[None]])
    for t in range(T):
        affinity = keys @ (expert.query @ expert.table[report.targets[1, t]]) / 2
        affinity[-1] += expert.no_bias
        attention = affinity.softmax(0)
        assert torch.allclose(ranked.experts[0][1, t], expert.norm(attention @ values), atol=1e-5)
    assert ranked.weights.shape == (2, T, 2)
    assert torch.allclose(ranked.weights.sum(-1)[report.targets != 3].amin(), torch.tensor(1.0))


def test_a_new_branch_starts_as_an_identity():
    small = {"width": D, "blocks": 1, "heads": 2, "length": T}
    with_experts = build_recommender(DmmrOptions(**small, keys=4), V, both(), 0)
    alone = build_recommender(SasrecOptions(**small), V, {}, 0)
    alone.load_state_dict(
        {
            name: tensor
            for name, tensor in with_experts.state_dict().items()
            if "." in name and name.split(".")[0] in ("items", "backbone")
        }
    )
    assert torch.allclose(with_experts(windows()).scores, alone(windows()).scores, atol=1e-6)


@pytest.mark.parametrize("length", [1, 5, 49, 50, 51, 500])
def test_training_and_evaluation_see_the_same_whatever_the_length(length):
    """Right padding under a causal mask: finite, equal in both modes without dropout, blind to what pads."""
    built = build_recommender(SasrecOptions(width=D, blocks=2, heads=2, length=500, dropout=0), V, {}, 0)
    items = torch.randint(V, (1, length), generator=torch.Generator().manual_seed(length))
    padded = F.pad(items, (0, 520 - length), value=V - 1)[:, :500]
    report = windows()._replace(items=items)
    short = built.train().encode(report)
    assert torch.isfinite(short).all()
    assert torch.equal(short, built.eval().encode(report))
    assert torch.allclose(built.encode(report._replace(items=padded))[:, :length], short, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"experts": "visual"}, {"scoring": "cosine"}])
def test_experts_say_the_same_in_training_and_in_evaluation(options):
    built, report = model(**options), windows()
    assert torch.equal(built.train()(report, of_everybody()).scores, built.eval()(report, of_everybody()).scores)


def test_the_future_is_not_seen():
    built, report = model(), windows()
    changed = report.items.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % V
    before, after = built.encode(report), built.encode(report._replace(items=changed))
    assert torch.allclose(before[:, :4], after[:, :4], atol=1e-6)
    assert not torch.allclose(before[:, 4:], after[:, 4:], atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"experts": "visual"}, {"fusion": "gate"}])
def test_an_untrained_model_costs_what_chance_costs(options):
    """Over the whole catalogue; and over what was not met: V less what was before the window and the inputs so far."""
    built = build_recommender(DmmrOptions(width=D, blocks=2, heads=2, length=T, keys=4, **options), V, both(), 0)
    report = windows(lengths=(T, T))
    report = report._replace(items=torch.arange(2 * T).view(2, T), targets=torch.arange(1, 2 * T + 1).view(2, T))
    met = torch.zeros(2, V, dtype=torch.bool)
    met[:, 2 * T + 1 : 30] = True
    ranked, report = built(report), report._replace(met=met)
    everywhere, _ = per_position(ranked, report, "softmax")
    assert everywhere.mean().item() == pytest.approx(np.log(V), rel=0.05)
    unmet, _ = per_position(ranked, report, "unmet")
    n_unmet = V - (30 - 2 * T - 1) - torch.arange(1, T + 1)
    assert unmet.mean().item() == pytest.approx(n_unmet.log().mean().item(), rel=0.05)


def test_dropouts_masks_act_where_they_are_given():
    built, report = model(), windows()
    ones = report._replace(keep=torch.ones(built.backbone.n_masks, 2, T, D))
    assert torch.equal(built.encode(ones), built.encode(report))
    for place in range(built.backbone.n_masks):
        some = ones.keep.clone()
        some[place] *= 0.5
        assert not torch.allclose(built.encode(report._replace(keep=some)), built.encode(report), atol=1e-4), place


def test_rows_that_a_client_holds_give_the_scores_of_the_whole_table():
    built, report = model(), windows()
    used = torch.cat([part.flatten() for part in (report.items, report.targets, report.recent, report.memory)]).unique()

    def local(items: Tensor) -> Tensor:
        return torch.searchsorted(used, items)

    part = report._replace(
        items=local(report.items),
        targets=local(report.targets),
        recent=local(report.recent),
        memory=local(report.memory),
        rows=used,
    )
    held = {name: tensor[used] if name in built.tables else tensor for name, tensor in built.state_dict().items()}
    scores = torch.func.functional_call(built, held, (part,)).scores
    assert torch.allclose(scores, built(report).scores[..., used], atol=1e-5)


def test_groups_hold_every_parameter_once():
    groups = model().groups
    assert set(groups) == {"backbone", "items", "experts", "router"}
    assert sorted(name for group in groups.values() for name in group) == sorted(dict(model().named_parameters()))
    assert set(build_recommender(SasrecOptions(width=D, heads=2), V, {}, 0).groups) == {"backbone", "items"}


@pytest.mark.parametrize(
    ("options", "dead"),
    [
        ({}, set()),
        ({"fusion": "identity"}, set()),
        ({"fusion": "gate"}, set()),
        ({"fusion": "disconnected"}, {"gate"}),
        ({"experts": "visual"}, set()),
        ({"experts": "semantic"}, set()),
        ({"router": "item"}, set()),
        ({"scoring": "cosine"}, set()),
    ],
)
def test_every_tensor_is_trained_but_the_gate_that_nothing_reads(options, dead):
    """After two steps: behind an O of zeros nothing is felt at the first. A query needs two keys to choose from."""
    small = {"width": D, "blocks": 1, "heads": 2, "length": T, "keys": 4}
    built, report = build_recommender(DmmrOptions(**small, **options), V, both(), 0), windows()
    optimiser = torch.optim.SGD(built.parameters(), 1.0)
    for _ in range(3):
        optimiser.zero_grad()
        F.cross_entropy(built(report).scores.flatten(0, 1), report.targets.flatten()).backward()
        optimiser.step()
    silent = {name.rsplit(".", 1)[1] for name, p in built.named_parameters() if p.grad is None or not p.grad.any()}
    assert silent == dead
