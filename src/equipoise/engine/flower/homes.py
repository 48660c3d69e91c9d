"""Where each client lives: machines that hold their clients' data, and machines that hold the whole data set.

Clients that no machine holds alone are dealt out, in the order of the machines' names, to those that hold everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.core.errors import EngineError
from equipoise.core.values import Event
from equipoise.engine.flower.share import digest
from equipoise.kind.site import Site
from equipoise.partition.machines import MachinesOptions

OTHER_DATA = "its data is not what the run has: another set, split or seed"


@dataclass
class Homes:
    site: Site
    names: dict[int, str] = field(default_factory=dict)
    """Machines that are part of the federation: number → name."""
    refused: dict[int, str] = field(default_factory=dict)
    """Machines that are not, and why."""
    home: dict[int, int] = field(default_factory=dict)
    """Client → the number of its machine."""
    copies: set[int] = field(default_factory=set)
    """Machines that hold the whole data set."""

    def take(self, node: int, name: str, header: Mapping[str, Any]) -> Event:
        """Note what a machine said; the event tells what became of it."""
        why = header.get("refused")
        if why is not None and header.get("kind") == "version-mismatch":
            self.refused[node] = str(why)
            return Event("version-mismatch", f"machine {name} takes no part: {why}", detail=_about(name, why))
        held = header.get("clients")
        why = why or self._objection(node, name, held, header.get("digest"))
        if why is not None:
            return self.refuse(node, name, str(why))
        self.names[node] = name
        self.refused.pop(node, None)
        if held is None:
            self.copies.add(node)
            text = f"machine {name} joined with the whole data set"
            return Event("machine-joined", text, detail={"machine": name})
        self.home |= dict.fromkeys(held, node)
        text = f"machine {name} joined with {len(held)} clients"
        return Event("machine-joined", text, detail={"machine": name, "clients": list(held)})

    def _objection(self, node: int, name: str, held: Any, found: Any) -> str | None:
        """Why a machine cannot take part with these clients, or None."""
        if held is not None and not self._are_clients(held):
            return "it names clients that the run does not have"
        taken = [client for client in held or () if self.home.get(client, node) != node]
        if taken:
            return f"client {taken[0]} is on {self.names[self.home[taken[0]]]} already"
        return None if found == self._expected(name, held) else OTHER_DATA

    def refuse(self, node: int, name: str, why: str) -> Event:
        self.refused[node] = why
        return Event("machine-refused", f"machine {name} takes no part: {why}", detail=_about(name, why))

    def deal(self) -> None:
        """Give every client without a home to a machine that holds the whole data set."""
        hosts = sorted(self.copies, key=lambda node: self.names[node])
        for place, client in enumerate(self.missing() if hosts else ()):
            self.home[client] = hosts[place % len(hosts)]

    @property
    def known(self) -> set[int]:
        """Machines that have answered."""
        return {*self.names, *self.refused}

    def missing(self) -> Sequence[int]:
        return [client for client in range(self.site.n_clients) if client not in self.home]

    def wanted(self, machines: int | None) -> str:
        """What a wait is for, in words."""
        number = "" if machines is None else f" of {machines}"
        joined = f"{len(self.names)}{number} joined" + (
            f" ({', '.join(sorted(self.names.values()))})" if self.names else ""
        )
        return f"machines: {joined}, {len(self.missing())} of {self.site.n_clients} clients have none yet"

    def incomplete(self, here: Mapping[int, str]) -> EngineError:
        """The error that names clients without a home, and why machines were refused."""
        missing = self.missing()
        shown = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        why = "".join(f"\n  machine {here.get(node, node)}: {text}" for node, text in self.refused.items())
        what = f"no machine holds clients {shown} ({len(self.names)} joined, {len(self.refused)} refused){why}"
        fix = "`equipoise federation status` lists who is there; start `equipoise join` on the missing machines"
        return EngineError(what, where="engine flower", fix=fix)

    def _expected(self, name: str, held: Sequence[int] | None) -> str | None:
        """The hash of what a machine should hold."""
        partition = self.site.config.partition
        if isinstance(partition, MachinesOptions):
            return partition.told[name].digest if name in partition.told else None
        return digest((self.site if held is None else self.site.only(held)).shared())

    def _are_clients(self, held: Any) -> bool:
        known = range(self.site.n_clients)
        return isinstance(held, list) and all(isinstance(client, int) and client in known for client in held)


def _about(name: str, why: object) -> dict[str, str]:
    return {"machine": name, "why": str(why)}
