"""What a client machine answers to a driver: who it is, which clients it holds, and their results.

    who        → versions, and what is in its data folder
    hello      → the clients that it holds, and a hash of their data; or a refusal in words
    work       → the results of the tasks, which a node computes

Its data never leaves it. Everything that comes from the network is checked before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from equipoise import __version__
from equipoise.config.check import check
from equipoise.core.codec import Message, decode, encode
from equipoise.core.errors import ConfigError, EngineError, EquipoiseError
from equipoise.core.values import State
from equipoise.engine.flower.compress import closed, unsqueezed
from equipoise.engine.flower.parcel import PROTOCOL, Parcel
from equipoise.engine.flower.policy import Policy
from equipoise.engine.flower.share import digest, read_share, share_for, shares_in
from equipoise.engine.messages import error_message
from equipoise.engine.node import Node, open_site
from equipoise.engine.settings import FlowerOptions
from equipoise.kind.samples.own_site import own_samples, own_site, told_of
from equipoise.kind.samples.site import SampleSite
from equipoise.kind.site import Site
from equipoise.method.resolve import resolve
from equipoise.partition.machines import MachinesOptions


def versions() -> dict[str, str]:
    """What must be the same on both sides."""
    return {"equipoise": __version__, "torch": torch.__version__.partition("+")[0], "protocol": str(PROTOCOL)}


class VersionMismatch(EngineError):
    pass


@dataclass
class Opened:
    """A run's configuration as it was received, and what this machine has for it."""

    config: str
    node: Node
    clients: list[int] | None
    """The clients that are held; None: the whole data set is here, for whichever clients the driver wants."""

    @property
    def site(self) -> Site:
        return self.node.site

    @property
    def compress(self) -> str:
        options = self.site.config.engine
        assert isinstance(options, FlowerOptions)
        return options.compress


class ClientMachine:
    def __init__(self, data: Path | None, state: Path, policy: Policy, device: str = "auto") -> None:
        self.data, self.state, self.policy, self.device = data, state, policy, device
        self._opened: Opened | None = None

    def answer(self, parcel: Parcel) -> Parcel:
        """The answer; a refusal if the request is not for this machine."""
        try:
            asked = parcel.header
            _require_versions(asked.get("versions"))
            if asked.get("do") == "who":
                return Parcel({"versions": versions(), "data": self._described()})
            if asked.get("do") == "own":
                return Parcel({"versions": versions(), **self._own_data(asked)})
            opened = self._open(asked)
            if asked.get("do") == "hello":
                return Parcel({"versions": versions(), **self._held(opened)})
            if asked.get("do") == "work":
                return self._work(opened, parcel)
            raise EngineError(f"cannot do '{str(asked.get('do'))[:40]}'")
        except VersionMismatch as error:
            return Parcel({"refused": str(error), "kind": "version-mismatch", "versions": versions()})
        except EquipoiseError as error:
            return Parcel({"refused": str(error), "kind": "machine-refused"})

    def _own_data(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What this machine tells about data of its own."""
        config, classes = asked.get("config"), asked.get("classes")
        if not isinstance(config, Mapping) or not isinstance(classes, list):
            raise EngineError("the message has no configuration, or no classes")
        self.policy.require(config)
        if not self.policy.tells_counts:
            what = "its policy keeps its counts, and a merge of machines with their own data is weighted by them"
            raise ConfigError(what, where="this machine's policy", fix="tells_counts: true")
        checked = check(self._own(config))
        return told_of(own_samples(checked, self.data, list(map(str, classes))), len(classes))

    def _open(self, asked: Mapping[str, Any]) -> Opened:
        """The run's node here; opened anew if the configuration is another one than before."""
        config = asked.get("config")
        if not isinstance(config, Mapping):
            raise EngineError("the message has no configuration")
        text = json.dumps(config, sort_keys=True)
        if self._opened is None or self._opened.config != text:
            self._opened = None  # so that memory is free before the next one is opened
            self.policy.require(config)
            self._opened = self._made(text, self._own(config), asked)
        return self._opened

    def _made(self, text: str, config: dict[str, Any], asked: Mapping[str, Any]) -> Opened:
        checked = check(config)
        if isinstance(checked.partition, MachinesOptions):
            name, inputs = str(asked.get("name")), asked.get("inputs")
            samples = own_samples(checked, self.data, checked.partition.classes)
            own = own_site(checked, samples, name, inputs if isinstance(inputs, Mapping) else {})
            return Opened(text, Node(own), [checked.partition.ids.index(name)])
        share = None if self.data is None else share_for(self.data, checked)
        if share is not None:
            site = open_site(config, share.arrays, share.facts)
            if site.n_clients != share.n_clients:
                raise EngineError(f"its share is of {share.n_clients} clients, and the run has {site.n_clients}")
            return Opened(text, Node(site), list(share.clients))
        built = checked.kind.load("build")(checked, resolve(checked), self.data)
        return Opened(text, Node(built.site), None)

    def _own(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration for this machine: its device, its folder for clients' states, its plugins' files."""
        given = config.get("engine")
        engine = given if isinstance(given, Mapping) else {}
        shared = ("precision", "deterministic", "compile", "threads", "together", "client_state", "compress")
        own = {"name": "flower", "device": self.device, **{key: engine[key] for key in shared if key in engine}}
        if engine.get("client_state") != "travels":
            own["state_folder"] = str(self.state)
        return self.policy.with_own_code(config) | {"engine": own}

    def _held(self, opened: Opened) -> dict[str, Any]:
        site, clients = opened.site, opened.clients
        found = digest(site.shared())
        if isinstance(site, SampleSite) and isinstance(site.config.partition, MachinesOptions):
            found = told_of(site.train, site.n_classes)["digest"]
        told: dict[str, Any] = {"clients": clients, "digest": found}
        if self.policy.tells_counts and clients is not None:
            told["counts"] = {str(client): site.counts(client).tolist() for client in clients}
        return told

    def _work(self, opened: Opened, parcel: Parcel) -> Parcel:
        how = opened.compress
        bodies = dict(parcel.bodies) if how == "none" else {name: unsqueezed(x) for name, x in parcel.bodies.items()}
        shared = bodies.pop("shared", None)
        if shared is None:
            raise EngineError("the message has no broadcast")
        broadcast, packed = decode(shared)[1], {}
        for name, body in bodies.items():
            tasks = decode(body)
            self._require_own(opened, tasks[0].get("clients", ()))  # of the tasks themselves, whatever else is said
            packed[name] = closed(self._answered(opened.node, tasks, broadcast), how)
        answers = {name: each.body for name, each in packed.items()}
        n_bytes = sum(len(answer) for answer in answers.values())
        if n_bytes > self.policy.most_megabytes * 1e6:
            what = f"the answer has {n_bytes / 1e6:.1f} MB, and at most {self.policy.most_megabytes:g} may leave"
            raise ConfigError(what, where="this machine's policy", fix="a smaller model, or ask its owner")
        errors = {name: each.error for name, each in packed.items()}
        return Parcel({"versions": versions(), "errors": errors}, answers)

    def _answered(self, node: Node, tasks: Message, broadcast: State) -> bytes:
        try:
            return encode(*node.answer(tasks, broadcast))
        except EquipoiseError as error:
            return encode(*error_message(error))

    def _require_own(self, opened: Opened, clients: Any) -> None:
        for client in clients:
            if opened.clients is not None and client not in opened.clients:
                raise EngineError(f"client {client} is not on this machine")
            if opened.site.samples(client) < self.policy.least_samples:
                what = f"client {client} has fewer than {self.policy.least_samples} samples"
                raise ConfigError(what, where="this machine's policy", fix="ask its owner")

    def _described(self) -> dict[str, Any]:
        """What may be told without a run."""
        if self.data is None:
            return {"is": "no folder"}
        try:
            shares = [read_share(path) for path in shares_in(self.data)]
        except EquipoiseError as error:
            return {"is": error.what}
        if not shares:
            return {"is": "a data folder"}
        if len(shares) > 1:
            return {"is": f"{len(shares)} shares"}
        (share,) = shares
        told = {"is": "a share", "clients": list(share.clients)}
        tells = self.policy.tells_counts and "labels" in share.arrays
        return told | ({"samples": len(share.arrays["labels"])} if tells else {})


def _require_versions(theirs: Any) -> None:
    ours = versions()
    if not isinstance(theirs, Mapping):
        raise VersionMismatch("the driver does not say which versions it has")
    different = [
        f"{name} {theirs.get(name)} there, {mine} here" for name, mine in ours.items() if theirs.get(name) != mine
    ]
    if different:
        fix = "install the same versions on both sides"
        raise VersionMismatch(f"versions differ: {'; '.join(different)}", where="handshake", fix=fix)
