"""Shares of a data set for machines, so that a federation of real machines can be compared with a simulated one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from equipoise.api.request import requested
from equipoise.core.errors import ConfigError
from equipoise.engine.flower.share import dealt, write_share
from equipoise.run.build import build


def write_shares(
    preset: str, overrides: Sequence[str], machines: Sequence[str], output: Path
) -> dict[Path, Sequence[int]]:
    """Write each machine's share of a run's data. Returns folder → clients."""
    request = requested(preset, overrides)
    site = build(request.config, request.data_path).site
    if not machines or len(machines) > site.n_clients:
        what = f"{site.n_clients} clients cannot be dealt out to {len(machines)} machines"
        raise ConfigError(what, where="--machines", fix="name at least one machine, and no more than there are clients")
    shares = dealt(site.n_clients, machines)
    return {write_share(site, clients, output / name): clients for name, clients in shares.items()}
