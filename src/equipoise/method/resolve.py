"""Resolves a configuration's method: fills in every answer that the method leaves open. Done once per run."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from equipoise.balance.policy import Balance
from equipoise.client.groups import personal
from equipoise.config.schema import Config
from equipoise.core.errors import PluginError
from equipoise.core.registry import BALANCES, METHODS
from equipoise.method.added import added
from equipoise.method.answers import BY_CONFIGURATION, BY_KIND, Method, Resolved

if TYPE_CHECKING:
    from torch import nn


def personal_weights(config: Config, method: Method, model: nn.Module) -> frozenset[str]:
    """Weights and buffers that stay with their client: those of `server.personal`, and the method's own."""
    return personal(config, model.groups) | frozenset(method.exchange.personal(model))  # type: ignore[arg-type]


def resolve(config: Config) -> Resolved:
    """The configuration gives λ policy, merge and predict; the kind of data gives the plain loss."""
    method = made(config)
    answers = {item.name: getattr(method, item.name) for item in fields(Method)}
    if method.objective is BY_KIND:
        answers |= {"objective": config.kind.load("plain_loss")(), "stacks": True}
    if method.balance is BY_CONFIGURATION:
        answers["balance"] = _policy(config)
    if method.merge is BY_CONFIGURATION:
        from equipoise.server.prototypes import merge_prototypes

        answers["merge"] = merge_prototypes(config.server.merge or "plain")
    answers["predict"] = config.server.predict or method.predict
    resolved = Resolved(**answers, carries=config.is_one_shot or not method.exchange.down)
    return added(resolved, config)


def _policy(config: Config) -> Balance:
    entry = BALANCES.find(config.balance.name)
    policy = entry.make(config.balance)
    if not isinstance(policy, Balance):
        what = f"balance '{entry.name}' gives no policy: expected equipoise.balance.policy.Balance, got {policy!r}"
        raise PluginError(what, where=str(entry.origin), fix="return Balance(start, weigh)")
    return policy


def made(config: Config) -> Method:
    """The method with its own answers, before others are filled in."""
    entry = METHODS.find(config.method.name)
    method = entry.make(config.method)
    if not isinstance(method, Method):
        what = f"method '{entry.name}' gives no Method: expected equipoise.method.answers.Method, got {method!r}"
        raise PluginError(
            what, where=str(entry.origin), fix="return Method(…) with the answers that differ from FedAvg"
        )
    return method
