"""Keys that were added after runs had been stored, each with the value that gives the old behaviour.

At that value a key does not enter the hash of a configuration, so that stored runs and sweeps keep matching.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipoise.config.blocks import ScenarioOptions

LATER: dict[str, Any] = {
    "scenario": ScenarioOptions().model_dump(),
    "data.local_test": 0.0,
    "plugins": [],
    "client.terms": {},
    "server.aggregate": None,
    "server.sums": None,
    "server.deadline": None,
    "server.quorum": 0.5,
    "server.common": "filters",
}


def without_later(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content without later keys at the value that gives the old behaviour.

    >>> without_later({"seed": 1, "data": {"name": "digits", "local_test": 0.0}})
    {'seed': 1, 'data': {'name': 'digits'}}
    """
    kept = dict(content)
    for path, value in LATER.items():
        block, _, key = path.partition(".")
        if not key:
            kept = {name: inner for name, inner in kept.items() if name != block or inner != value}
        elif isinstance(kept.get(block), Mapping) and kept[block].get(key) == value:
            kept[block] = {name: inner for name, inner in kept[block].items() if name != key}
    return kept
