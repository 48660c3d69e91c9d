"""Record what real runs look like to the rules: for each a run that it names and a near miss that it does not.

    python scripts/record_signs.py            train them all (minutes) and write tests/data/rules
    python scripts/record_signs.py lr-cut     only these

A fixture holds the curves that the rule looked at, the facts, and the command that made it.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.config.loader import load
from equipoise.core.errors import EquipoiseError
from equipoise.core.values import Event
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.rule import RULES
from equipoise.diagnose.stored import stored
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import read
from equipoise.store.database import open_store

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "data" / "rules"
ANCHORED = "etf-align data.limit=200 model=mlp partition.clients=3 method.start=anchor method.logits=cosine"
LONG = "client.epochs=24 checkpoints=12"
SMALL_REC = "rec/feddmmr data.users=30 rounds=12 server.fraction=0.5 evaluate.every=4"

RUNS = {
    "V9": "etf-align balance=v9",
    "V10": "etf-align balance=v10",
    "V10, fast σ": "etf-align balance=v10 balance.sigma.lr=1 client.epochs=10",
    "V11": "etf-align balance=v11",
    "V7": "etf-align balance=v7",
    "V12 at the anchors": f"{ANCHORED} balance=v12 balance.sigma.lr=0.2 {LONG}",
    "V12 at the anchors, fading rate": f"{ANCHORED} balance=v12 balance.sigma.lr=0.2 client.schedule=cosine"
    " client.epochs=16 checkpoints=8",
    "equilibrium at the anchors": f"{ANCHORED} balance=equilibrium {LONG}",
    "V14, weak hinge": f"{ANCHORED} balance=v14 balance.sigma.lr=0.2 balance.gamma=1e-9 {LONG}",
    "V14": f"{ANCHORED} balance=v14 {LONG}",
    "FAFI": "fafi",
    "FAFI, cosine logits": "fafi method.logits=cosine",
    "FAFI, equal clients": "fafi partition=iid",
    "FAFI, overlapping": "fafi partition=fafi-overlap client.epochs=4 checkpoints=4",
    "two-stage": "two-stage client.epochs=10 checkpoints=10",
    "stages": "fedavg model=cnn model.norm=batch rounds=4 'client.stages=[{rounds: 2, groups: [encoder]}]'",
    "FedAvg, equal clients": "fedavg partition=iid rounds=4",
    "FedAvg that diverges": "fedavg client.lr=1000 rounds=3 partition=iid",
    "FedAvg, an easy task": "fedavg data=synthetic partition=iid rounds=10 model=mlp",
    "nothing learnt": "fedavg client.lr=1e-9 rounds=2",
    "FedDMMR": SMALL_REC,
    "FedDMMR, gate": f"{SMALL_REC} model.fusion=gate",
    "FedDMMR, temperature": f"{SMALL_REC} method.weighting=temperature",
    "FedDMMR, weights after the mean": f"{SMALL_REC} method.weighting=after-mean",
    "FedDMMR, noise": f"{SMALL_REC} data.features=noise",
    "a stream": "rec/feddmmr data.users=20 data.follow=0.5 data.split=slices data.slices=10 rounds=9 data.drift=0.5"
    " data.length=200",
}
"""Everything on embedded data, in seconds each."""

CASES = {
    "lambda-runaway": ("V12 at the anchors", "V10"),
    "schedule-fights-learner": ("V11", "V7"),
    "lr-cut": ("V10", "V9"),
    "sigma-unstable": ("V10, fast σ", "V10"),
    "cap-inactive": ("V14, weak hinge", "V14"),
    "bound-exceeded": ("V14, weak hinge", "equilibrium at the anchors"),
    "ensemble-collapse": ("V12 at the anchors, fading rate", "FAFI"),
    "peak-then-collapse": ("V12 at the anchors, fading rate", "FAFI, equal clients"),
    "merge-below-client": ("FAFI", "FAFI, equal clients"),
    "wasted-stage": ("two-stage", "stages"),
    "dead-term": ("FAFI", "FAFI, cosine logits"),
    "starved-branch": ("FedDMMR, gate", "FedDMMR"),
    "temperature-inversion": ("FedDMMR, temperature", "FedDMMR"),
    "weights-inert": ("FedDMMR, weights after the mean", "FedDMMR"),
    "features-missing": ("FedDMMR, noise", "FedDMMR"),
    "interest-drift": ("a stream", "FedDMMR"),
    "chance-level": ("nothing learnt", "FAFI"),
    "non-finite": ("FedAvg that diverges", "FedAvg, equal clients"),
    "partition-overlap": ("FAFI, overlapping", "FAFI"),
    "class-blind": ("FAFI", "FAFI, equal clients"),
    "no-better-than-untrained": ("FAFI", "FedAvg, an easy task"),
}
"""code → (a run that it names, a near miss). The rules that are not here name what this program refuses or cannot do,
or need two runs or a clock: `tests/unit/diagnose/test_rules.py` has their arithmetic."""


class Spy(dict[str, Any]):
    """What is known of a run, and what of it was asked for."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__(content)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


def main() -> None:
    wanted = sys.argv[1:] or list(CASES)
    FOLDER.mkdir(parents=True, exist_ok=True)
    known: dict[str, Recording] = {}
    with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "runs.db")) as store:
        for code in wanted:
            parts = {}
            for kind, name in zip(("fires", "near"), CASES[code], strict=True):
                if name not in known:
                    preset, *settings = shlex.split(RUNS[name])
                    request = load(preset, settings)
                    try:
                        run_id = start(store, request, Nobody())
                    except EquipoiseError:
                        run_id = read.find_run(store, "latest").run_id
                    known[name] = replace(stored(store, read.find_run(store, run_id)), name=name)
                parts[kind] = fixture(code, known[name])
                print(f"{code}: {kind} {name}: {parts[kind]['signs']} signs")
            (FOLDER / f"{code}.json").write_text(json.dumps(parts, ensure_ascii=False, separators=(",", ":")) + "\n")


def fixture(code: str, run: Recording) -> dict[str, Any]:
    """What the rule looked at."""
    rule, curves, facts = RULES.find(code).make, Spy(run.curves), Spy(run.facts)
    seen = replace(run, curves=curves, facts=facts)
    missing = rule.missing(seen)
    signs = [] if missing else list(rule.look(seen, rule.defaults))
    return {
        "run": run.name,
        "command": f"equipoise run {RUNS[run.name]}",
        "signs": len(signs),
        "facts": {name: _plain(run.facts[name]) for name in sorted(facts.asked & run.facts.keys())},
        "events": [_event(event) for event in run.events if event.kind in {"failed", "client-non-finite"}],
        "curves": {name: _curves(run.curves[name]) for name in sorted(curves.asked & run.curves.keys())},
    }


def _curves(by: Mapping[int, Curve]) -> dict[str, Any]:
    return {str(client): [each.steps.tolist(), [float(f"{x:.4g}") for x in each.values]] for client, each in by.items()}


def _event(event: Event) -> dict[str, Any]:
    return {"kind": event.kind, "message": event.message, "step": event.step, "client": event.client}


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


if __name__ == "__main__":
    main()
