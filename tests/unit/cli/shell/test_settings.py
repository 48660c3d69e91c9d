"""What is offered for settings, from a table that one can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from equipoise.cli.shell.settings import offered

TABLE: dict[str, Any] = {
    "names": {"method": ["fedavg", "fedprox"], "data": ["digits"], "server.predict": ["mean", "gate"]},
    "blocks": {
        "method": {"fedavg": {}, "fedprox": {"method.mu": (0.01, [])}},
        "data": {"digits": {"data.limit": (None, [])}},
    },
    "keys": {
        "rounds": (None, []),
        "guard": ("off", ["off", "warn"]),
        "client.lr": (0.02, []),
        "client.drop": (False, ["true", "false"]),
        "server.predict": (None, []),
    },
    "presets": {
        "plain": {"method.name": "fedavg", "data.name": "digits", "rounds": 10},
        "prox": {"method.name": "fedprox", "method.mu": 0.5, "data.name": "digits"},
        "study": None,
    },
    "aliases": {"lr": "client.lr", "R": "rounds"},
}


@pytest.mark.parametrize(
    ("preset", "given", "typed", "expected"),
    [
        ("plain", [], "cl", ["client.drop=", "client.lr="]),
        ("plain", [], "client.l", ["client.lr=", "client.lr=0.02"]),
        ("plain", [], "rou", ["rounds=", "rounds=10"]),
        ("plain", [], "gua", ["guard=", "guard=off", "guard=warn"]),
        ("plain", [], "method.", []),
        ("plain", ["method=fedprox"], "method.", ["method.mu=", "method.mu=0.01"]),
        ("plain", ["method.name=fedprox"], "method.", ["method.mu=", "method.mu=0.01"]),
        ("prox", [], "method.", ["method.mu=", "method.mu=0.5"]),
        ("prox", ["method=fedavg"], "method.", []),
        ("plain", [], "method=", ["method=fedavg", "method=fedprox"]),
        ("plain", [], "method.name=", ["method.name=fedavg", "method.name=fedprox"]),
        ("plain", [], "server.predict=", ["server.predict=mean", "server.predict=gate"]),
        ("plain", [], "client.drop=", ["client.drop=true", "client.drop=false"]),
        ("plain", [], "lr", ["lr=", "lr=0.02"]),
        ("plain", [], "R=", ["R=10"]),
        ("plain", [], "data.limit=", []),
        ("plain", [], "nothing", []),
        ("study", [], "rou", ["rounds="]),
        ("no-such-preset", [], "data.", ["data.limit="]),
        (None, [], "data=", ["data=digits"]),
    ],
)
def test_offers(preset: str | None, given: list[str], typed: str, expected: list[str]) -> None:
    assert offered(TABLE, preset, given, typed) == expected


def test_a_file_of_ones_own_gives_its_values_and_a_wrong_one_none(tmp_path: Path) -> None:
    own, wrong = tmp_path / "own.yaml", tmp_path / "wrong.yaml"
    own.write_text("preset: fedavg\nclient: {lr: 0.5}\n", encoding="utf-8")
    wrong.write_text("client: {lrr: 0.5}\n", encoding="utf-8")
    assert offered(TABLE, str(own), [], "client.lr=") == ["client.lr=0.5"]
    assert offered(TABLE, str(wrong), [], "client.lr=") == ["client.lr=0.02"]
