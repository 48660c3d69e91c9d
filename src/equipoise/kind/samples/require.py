"""Requests that are refused before a run on labelled samples begins: they would fail later or have no effect."""

from __future__ import annotations

import torch
from torch import nn

from equipoise.client.groups import in_phase
from equipoise.client.together import client_bytes, stacks
from equipoise.config.schema import Config
from equipoise.config.traits import ONE_MODEL
from equipoise.core.errors import ConfigError
from equipoise.core.machine import memory
from equipoise.core.registry import PREDICTS
from equipoise.kind.samples.site import SampleSite
from equipoise.method.answers import Resolved
from equipoise.method.resolve import personal_weights
from equipoise.models.frozen import learning_modules
from equipoise.partition.sample import counted
from equipoise.server.sums import most_features, needed_bytes


def parameters(method: Resolved, model: nn.Module) -> None:
    """A model of fixed filters under a fixed head leaves nothing to train."""
    if method.trains and not any(parameter.requires_grad for parameter in model.parameters()):
        what = "this method and this model together have nothing to train"
        raise ConfigError(what, where="model", fix="choose another model, or method=statistics")


def personal_stay(config: Config, method: Resolved, model: nn.Module) -> bool:
    """Whether nodes keep personal weights, so that the server cannot score a client's own model; then clients must."""
    if config.engine.state_folder is None or method.carries or not personal_weights(config, method, model):
        return False
    if method.predict is None and not getattr(config.data, "local_test", 0.0):
        what = f"clients' own models are the result of {config.method.name}, and a part of them stays with their node"
        raise ConfigError(what, where="engine.state_folder", fix="let clients test themselves: data.local_test=0.2")
    if method.predict is not None and ONE_MODEL not in PREDICTS.find(method.predict).traits:
        what = f"'{method.predict}' reads clients' models, and a part of them stays with their node"
        raise ConfigError(
            what, where="engine.state_folder", fix="leave it out, or set server.predict=parameter-average"
        )
    return True


def phases(config: Config, method: Resolved, model: nn.Module) -> None:
    """A method that trains one part of the model after another needs epochs for each, and parts that can learn."""
    if not method.phases:
        return
    name, counted = config.method.name, sum(phase.epochs or 0 for phase in method.phases)
    if counted >= config.client.epochs:
        what = f"the first phases of {name} take {counted} of {config.client.epochs} epochs: the last would have none"
        raise ConfigError(what, where="client.epochs", fix=f"set client.epochs={counted + 1} or more")
    if config.client.stages:
        what = f"{name} itself says what is trained when"
        raise ConfigError(what, where="client.stages", fix="leave it out, or choose another method")
    learning = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    for phase in method.phases:
        if learning.isdisjoint(in_phase([phase], model.groups, 0) or ()):  # type: ignore[arg-type]
            what = f"{name} trains {' and '.join(phase.groups)} alone for a while, and nothing there can be trained"
            raise ConfigError(what, where="model", fix="choose a model with a trained encoder and a trained head")


def axis(config: Config, method: Resolved, model: nn.Module) -> None:
    """If clients are to train along one axis, the model and method must support it."""
    if config.engine.compile and (config.engine.together or 1) > 1:
        what = "only the network of clients that train alone is compiled"
        raise ConfigError(what, where="engine.compile", fix="leave engine.together out, or engine.compile")
    if (config.engine.together or 1) > 1 and not (stacks(model) and method.stacks):
        what = f"clients of {config.method.name} with {config.model.name} cannot train along one axis"
        fix = "leave it out; BatchNorm, dropout and memories of the past keep clients apart"
        raise ConfigError(what, where="engine.together", fix=fix)


def batches(site: SampleSite, model: nn.Module) -> None:
    """BatchNorm has nothing to normalise over in a batch of one sample."""
    smallest = min(site.config.client.batch, *(len(index) for index in counted(site.indices)))
    has_batch_norm = any(isinstance(module, nn.BatchNorm2d) for module in learning_modules(model))
    if has_batch_norm and smallest == 1 and site.config.client.augment == "none":
        fix = "raise client.batch and partition.min_size to 2 or more, or set model.norm=group"
        raise ConfigError("BatchNorm cannot be trained on batches of one image", where="client.batch", fix=fix)


def sums(config: Config, n: int) -> None:
    """Sums of products of `n` features must fit into memory."""
    parts = getattr(config.method, "parts", 1)
    if needed_bytes(n, parts) > memory():
        has, wants = (f"{size / 2**30:,.1f} GiB" for size in (memory(), needed_bytes(n, parts)))
        what = f"sums of {n} features take {wants}, and this machine has {has}: {most_features(memory(), parts)} fit"
        settings = {"parts": "method.parts=4", "levels": "a smaller method.levels or method.group"}
        others = [text for name, text in settings.items() if hasattr(config.method, name)]
        raise ConfigError(what, where="model", fix=", or ".join(["fewer filters or features", *others]))


def room(site: SampleSite, model: nn.Module) -> None:
    """A device must have the memory for one client, and for as many on one axis as were asked for."""
    if site.device.is_cpu:
        return
    asked = site.config.engine.together or 1
    needed = asked * client_bytes(model, torch.zeros(1, *site.shape), site.batch)
    if needed > site.device.memory:
        who = "one client takes" if asked == 1 else f"{asked} clients on one axis take"
        there = f"{site.device.name} has {site.device.memory / 2**20:,.0f}"
        what = f"{who} about {needed / 2**20:,.0f} MiB, and {there}"
        where, fix = ("engine.together", "leave it out") if asked > 1 else ("client.batch", "a smaller batch or model")
        raise ConfigError(what, where=where, fix=fix)
