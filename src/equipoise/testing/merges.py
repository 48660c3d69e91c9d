"""What every merge promises: `server.aggregate`."""

from __future__ import annotations

import torch

from equipoise.core.codec import decode, encode
from equipoise.core.registry import AGGREGATES
from equipoise.core.values import ClientState, ClientUpdate, State
from equipoise.server.merge import Merge, ServerState
from equipoise.testing.methods import config_of, order_does_not_matter, resuming_changes_nothing, steps_of
from equipoise.testing.small import assert_same, untouched_rng

SAMPLES = (3, 50, 7, 20, 1)
COUNTER = "norm.num_batches_tracked"


def check_merge(name: str, *overrides: str) -> None:
    """Check all promises; `overrides` are settings that the merge needs, as in `server.aggregate.x=1`."""
    entry = AGGREGATES.find(name)
    given = {text.partition("=")[0].rpartition(".")[2]: text.partition("=")[2] for text in overrides}
    merge: Merge = entry.make(entry.options.model_validate({"name": name, **given}))
    order_of_updates_does_not_matter(merge)
    names_and_shapes_stay(merge)
    run = steps_of(config_of("fedavg", "rounds", f"server.aggregate={name}", *overrides))
    order_does_not_matter(run)
    resuming_changes_nothing(run)


def updates(n_clients: int = len(SAMPLES)) -> list[ClientUpdate]:
    """Clients with the models of a small network: a weight, a running mean and a counter."""
    draw = torch.Generator().manual_seed(5)
    found = []
    for client, samples in enumerate(SAMPLES[:n_clients]):
        model = {"w": torch.randn(4, 3, generator=draw), "norm.running_mean": torch.randn(3, generator=draw)}
        model[COUNTER] = torch.tensor(10 + client)
        found.append(ClientUpdate(client, samples, model, ClientState(model), {}, [samples]))
    return found


def start() -> ServerState:
    return ServerState({"w": torch.zeros(4, 3), "norm.running_mean": torch.zeros(3), COUNTER: torch.tensor(0)})


def order_of_updates_does_not_matter(merge: Merge) -> None:
    with untouched_rng():
        there, back = merge(start(), updates()), merge(start(), updates()[::-1])
    assert_same(there.model, back.model)
    assert_same(there.memory, back.memory)


def names_and_shapes_stay(merge: Merge) -> None:
    """Two merges in a row, with any number of clients; inputs are not modified; the server's state is serialisable."""
    for n_clients in (1, 2, len(SAMPLES)):
        given, before = updates(n_clients), start()
        kept = [dict(update.model) for update in given]
        first = merge(before, given)
        after = merge(first, given)
        for state in (first, after):
            _like(state.model, before.model, n_clients)
            assert_same(decode(encode({}, state.memory))[1], state.memory)
        assert_same(before.model, start().model)
        for update, copy in zip(given, kept, strict=True):
            assert_same(update.model, copy)


def _like(ours: State, theirs: State, n_clients: int) -> None:
    assert ours.keys() == theirs.keys(), f"the merged model of {n_clients} clients has other names: {sorted(ours)}"
    for name, tensor in ours.items():
        like = theirs[name]
        is_alike = tensor.shape == like.shape and tensor.dtype == like.dtype
        assert is_alike, f"{name} became {tensor.dtype} {tuple(tensor.shape)}, was {like.dtype} {tuple(like.shape)}"
        assert bool(torch.isfinite(tensor).all()), f"{name} of {n_clients} clients is not finite"
