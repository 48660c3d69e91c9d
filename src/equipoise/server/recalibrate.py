"""The merged model with BatchNorm statistics re-measured by the clients, instead of the average of their own.

softmax(logits of the recalibrated merged model)        a second exchange: the model goes down, statistics come up
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from equipoise.client.own import OwnSamples
from equipoise.core.values import State
from equipoise.server.predict import Merged, ServerView, asks

SAMPLES = "samples"


@asks("batch-statistics", through="merged")
def recalibrated_average(view: ServerView, merged: Merged) -> Tensor:
    model = view.once("recalibrated", lambda: recalibrated(merged.model, view.answers))
    return view.outputs(model).logits.softmax(1)


def recalibrated(model: State, answers: Mapping[int, State]) -> State:
    """The model with the clients' statistics, averaged by samples; unchanged if no client could measure any."""
    measured = [answer for _, answer in sorted(answers.items()) if int(answer[SAMPLES]) > 1]
    total = sum(int(answer[SAMPLES]) for answer in measured)
    result = {name: tensor.clone() for name, tensor in model.items()}
    for name in statistics_of(model) if measured else ():
        result[name].zero_()
        for answer in measured:
            result[name] += answer[name] * (int(answer[SAMPLES]) / total)
    return result


def batch_statistics(own: OwnSamples) -> State:
    """BatchNorm statistics of the model on all the client's own samples; one sample has no variance."""
    (model,), n = own.models, len(own.everything)
    count = {SAMPLES: torch.tensor(n)}
    if n < 2:
        return {**statistics_of(model), **count}
    network = own.network
    own.reader.device.load(network, model)
    layers = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    before = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the plain mean over batches
    network.train()
    with torch.no_grad():
        for batch in own.reader.batches(own.everything.inputs):
            network(batch)
    for layer, momentum in zip(layers, before, strict=True):
        layer.momentum = momentum
    measured = {name: tensor.clone() for name, tensor in statistics_of(network.state_dict()).items()}
    return {**own.reader.device.home(measured), **count}


def statistics_of(state: State) -> State:
    """BatchNorm's running means and variances."""
    return {name: tensor for name, tensor in state.items() if name.endswith(("running_mean", "running_var"))}
