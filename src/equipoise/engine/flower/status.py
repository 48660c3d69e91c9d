"""Who is there: the machines that the server knows, and what those that are online say of themselves."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.engine.flower.authority import SECRET
from equipoise.engine.flower.connect import reached
from equipoise.engine.flower.control import control_client
from equipoise.engine.flower.link import Link
from equipoise.engine.flower.machine import versions
from equipoise.engine.flower.parcel import Parcel
from equipoise.engine.settings import FlowerOptions

if TYPE_CHECKING:
    from rich.table import Table

REACH_SECONDS = 5.0
POLL = 0.2


@dataclass(frozen=True)
class MachineStatus:
    """A machine whose key is registered."""

    name: str
    status: str
    """online, offline or registered: it was never there."""
    says: str = ""
    """What it answered: its versions and data, or why it takes no part; empty if it was not asked."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def who_is_there(folder: Path, address: str, seconds: float) -> list[MachineStatus]:
    """The registered machines, by name. Those online are asked, and have so many seconds to answer."""
    from flwr.proto.control_pb2 import ListNodesRequest

    options = FlowerOptions(
        address=address,
        certificate=str(folder / "ca.crt"),
        secret=str(folder / SECRET),
        patience=REACH_SECONDS,
    )
    link = Link(options)
    try:
        said = _said(link, seconds)
        control = control_client(address, (folder / "ca.crt").read_bytes())
        nodes = reached("SuperLink", address, lambda: control.ListNodes(ListNodesRequest()).nodes_info)
        control.close()
    finally:
        link.close()
    here = {node.node_id: said.get(node.node_id, "") for node in nodes}
    found = [MachineStatus(node.name or str(node.node_id), node.status, here[node.node_id]) for node in nodes]
    return sorted(found, key=lambda machine: machine.name)


def _said(link: Link, seconds: float) -> dict[int, str]:
    asked = Parcel({"do": "who", "versions": versions()})
    waiting, until = link.post(dict.fromkeys(link.machines(), asked)), time.monotonic() + seconds
    said = dict.fromkeys(waiting.values(), f"late: no answer within {seconds:g} s; it may be at work")
    while waiting and time.monotonic() < until:
        for reply in link.collect(waiting):
            node = waiting.pop(reply.message)
            said[node] = f"lost: {reply.error}" if reply.parcel is None else _in_words(reply.parcel.header)
        time.sleep(POLL)
    return said


def _in_words(header: Mapping[str, Any]) -> str:
    if "refused" in header:
        return str(header["refused"])
    data, theirs = header.get("data") or {}, header.get("versions") or {}
    held = f", {len(data['clients'])} clients" if "clients" in data else ""
    count = f", {data['samples']} samples" if "samples" in data else ""
    software = ", ".join(f"{name} {version}" for name, version in theirs.items() if name != "protocol")
    return f"{data.get('is', 'nothing')}{held}{count}; {software}"


def table_of(machines: Sequence[MachineStatus]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for title in ("machine", "status", "says"):
        table.add_column(title, overflow="fold")
    for machine in machines:
        table.add_row(machine.name, machine.status, machine.says)
    return table
