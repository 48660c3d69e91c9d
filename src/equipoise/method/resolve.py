"""From a configuration to its method, with every answer that the method leaves open filled in. Done once per run."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from equipoise.client.groups import personal
from equipoise.config.schema import Config
from equipoise.core.registry import BALANCES, METHODS
from equipoise.method.answers import BY_CONFIGURATION, BY_KIND, Method, Resolved
from equipoise.server.prototypes import merge_prototypes

if TYPE_CHECKING:
    from torch import nn


def personal_weights(config: Config, method: Method, model: nn.Module) -> frozenset[str]:
    """Weights and buffers that stay with their client: those of `server.personal`, and those that the method keeps."""
    return personal(config, model.groups) | frozenset(method.exchange.personal(model))  # type: ignore[arg-type]


def resolve(config: Config) -> Resolved:
    """The configuration gives λ policy, merge and predict; the kind of data gives the plain loss."""
    method = METHODS.find(config.method.name).make(config.method)
    assert isinstance(method, Method)
    answers = {item.name: getattr(method, item.name) for item in fields(Method)}
    if method.objective is BY_KIND:
        answers |= {"objective": config.kind.load("plain_loss")(), "stacks": True}
    if method.balance is BY_CONFIGURATION:
        answers["balance"] = BALANCES.find(config.balance.name).make(config.balance)
    if method.merge is BY_CONFIGURATION:
        answers["merge"] = merge_prototypes(config.server.merge or "plain")
    answers["predict"] = config.server.predict or method.predict
    return Resolved(**answers, carries=config.is_one_shot or not method.exchange.down)
