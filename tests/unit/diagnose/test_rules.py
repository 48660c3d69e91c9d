"""Each rule against its formula: numbers on both sides of its limit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from equipoise.core.values import Event
from equipoise.diagnose.recording import Recording, TableRow
from equipoise.diagnose.rule import RULES
from tests.unit.diagnose.runs import found, run_of

TEN = range(10)
UP = [0.30, 0.32, 0.34, 0.36, 0.38, 0.40, 0.41, 0.42, 0.43, 0.44]
DOWN = [0.30, 0.40, 0.44, 0.44, 0.43, 0.40, 0.36, 0.31, 0.26, 0.22]
FLAT = [0.20] * 10
COSINE = [0.5 * (1 + math.cos(math.pi * (t + 0.5) / 10)) for t in TEN]


def stage(accuracy: float) -> Recording:
    return run_of(server={"accuracy/merged": [accuracy] * 5 + UP[:5]}, classes=10, stage_switch=5)


def staged(back: float) -> Recording:
    """L_a falls to a fifth in five checkpoints, then returns to `back`."""
    return run_of({"loss/align": [1, 0.8, 0.6, 0.4, 0.2, back, back, back, back, back]}, stage_switch=5, steps=10)


def against(run: Recording, other: Recording) -> Recording:
    return replace(run, reference=other)


def aligned(lam: float, probe: float) -> Recording:
    curves = {"lam/used": [lam] * 10, "loss/align": [0.5] * 10, "loss/base": [1.0] * 10}
    return run_of(curves, {"accuracy/probe": [probe] * 10})


NONE = run_of(server={"accuracy/probe": [0.50] * 10})
MEMORY = {"memory/p_positive": [0.5], "memory/p_negative": [0.01]}
INPUT = {"input/mean/train": [0.0], "input/std/train": [1.0], "input/std/eval": [1.0]}
MANY = {k: [1.0 + 0.1 * k] * 4 for k in range(7)}
FEATURES = {"name": "visual", "lift": 0.0, "shuffled": 0.0}
EVEN = np.full((5, 10), 100)
BY_QUORUM = Event("ended-by-quorum", "checkpoint 1 ended with 2 of 3 clients", 0, detail={"machines": ["c"]})
OTHER_VERSION = Event(
    "version-mismatch", "refused", detail={"machine": "c", "why": "versions differ: torch 2.12 there"}
)
JOINED = Event("machine-joined", "machine c joined", detail={"machine": "c"})


def machine_lost(step: int | None) -> Event:
    return Event("machine-lost", "machine c was lost at its work", step, detail={"machine": "c"})


STOPPED = [Event("client-non-finite", "loss/base is nan at local step 3; the step before it had lam 1", 2, 1)]

NO_FEATURES = [
    Event("client-non-finite", "the encoder gives features that are not finite for 3 of 9 samples", 0, 1),
    Event("failed", "no client gave an update; the first of 5: the encoder gives features that are not finite for 2"),
]

PLAIN = {"method.name": "fafi", "rounds": 10, "client.epochs": 1, "data.features": "as-given"}
RISE = {0: (0.1, 0.30), 1: (0.1, 0.31), 2: (0.1, 0.32)}


def row(
    label: str, by: float = 0.0, metric: str = "accuracy/merged", noise: float = 0.0, **settings: object
) -> TableRow:
    """A row whose results are RISE and `by` more, or less by turns."""
    shift = {seed: by + noise * (-1) ** seed for seed in RISE}
    results = {seed: (values[0], values[1] + shift[seed]) for seed, values in RISE.items()}
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    return TableRow(label, PLAIN | dotted, metric, results, frozenset({"abc"}))


def table(*rows: TableRow) -> Recording:
    return Recording("comparison", {}, table=rows)


EXPERTS = {"model__experts": "both"}
SHUFFLED = {"model__experts": "both", "data__features": "shuffled"}

CASES: dict[str, tuple[list[Recording], list[Recording]]] = {
    "lambda-runaway": (
        [
            run_of({"lam": [2.0**t for t in TEN], "loss/align": [0.9**t for t in TEN]}),  # ln 2 = .69 a checkpoint
            run_of({"lam": [1.3**t for t in TEN], "loss/align": [1.0] * 10}),  # ln 1.3 = .26; 1.3⁹ = 10.6
            run_of({"lam": [2.0**t for t in TEN]}, lam_max=50.0),  # 512 > 50
            run_of({"lam": [2.0**t for t in TEN]}, balanced=200.0),  # 512 > 2 · 200
            run_of({"lam": [1.0] * 196 + [1.6, 2.6, 4.1, 6.6]}),  # late in a long run: less than one of fifty parts
        ],
        [
            run_of({"lam": [1.28**t for t in TEN]}),  # 1.28⁹ = 9.2 and ln 1.28 = .25
            run_of({"lam": [1 / s for s in COSINE], "schedule": COSINE}),  # only makes up for the schedule
            run_of({"lam": [2.0**t for t in TEN]}, lam_max=600.0),
            run_of({"lam": [2.0**t for t in TEN]}, balanced=300.0),  # 512 < 2 · 300: on its way to where it settles
            run_of({"lam": [1, 6, 15, 9, 6, 7, 8, 7.5, 7.5, 7.5]}),  # overshoots, and comes back
            run_of({"lam": [1.0] * 50 + [9.0] * 50 + [1.0] * 96 + [1.6, 2.6, 4.1, 6.6]}),  # not above where it was
            run_of({"lam": [2.0**t for t in range(3)], "loss/align": [1.0, 1.1, 1.2]}),  # L_a rises
        ],
    ),
    "schedule-fights-learner": (
        [run_of({"lam": {k: [3 / s for s in COSINE] for k in range(3)}, "schedule": dict.fromkeys(range(3), COSINE)})],
        [
            run_of({"lam": {0: [3 / s for s in COSINE], 1: FLAT}, "schedule": {0: COSINE, 1: COSINE}}),  # one of two
            run_of({"lam": [5.0] * 10, "schedule": COSINE}),
            run_of({"lam": [3 / s**2 for s in COSINE], "schedule": COSINE}),  # λ·s = 3/s is not steady
        ],
    ),
    "over-alignment": (
        [against(aligned(2.0, 0.46), NONE)],  # 2·.5 = 1 > .8·1 and 4 points below
        [against(aligned(2.0, 0.48), NONE), against(aligned(1.5, 0.40), NONE)],  # 2 points; 1.5·.5 = .75 < .8
    ),
    "lr-cut": (
        [run_of({"scale/base": [0.2] * 6 + [1.0] * 4}), run_of({"sigma2/base": [4.0] * 10})],  # 1/8
        [run_of({"scale/base": [0.2] * 5 + [1.0] * 5}), run_of({"sigma2/base": [1.0] * 10})],  # 1/2
    ),
    "sigma-unstable": (
        [run_of({"lam": [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]})],
        [
            run_of({"lam": [1, 1.05, 1, 1.05, 1, 1.05, 1, 1.05, 1, 1.05]}),
            run_of({"lam": [1, 2, 3, 4, 5, 4, 5, 6, 7, 8]}),
        ],
    ),
    "cap-inactive": ([run_of(cap=61.0, lam_max=50.0)], [run_of(cap=59.0, lam_max=50.0)]),
    "bound-exceeded": ([run_of({"lam": [40, 61]}, lam_max=50.0)], [run_of({"lam": [40, 59]}, lam_max=50.0)]),
    "ensemble-collapse": (
        [run_of(server={"accuracy/merged": DOWN, "accuracy/clients": FLAT})],
        [
            run_of(server={"accuracy/merged": UP, "accuracy/clients": FLAT}),
            run_of(server={"accuracy/merged": DOWN, "accuracy/clients": DOWN}),  # everybody falls
            run_of(server={"accuracy/merged": [0.4, 0.2] * 5, "accuracy/clients": FLAT}),  # jumps about
        ],
    ),
    "merge-below-client": (
        [run_of(server={"accuracy/merged": [0.3], "accuracy/best_client": [0.31], "accuracy/probe": [0.41]})],
        [
            run_of(server={"accuracy/merged": [0.3], "accuracy/best_client": [0.29], "accuracy/probe": [0.41]}),
            run_of(server={"accuracy/merged": [0.3], "accuracy/best_client": [0.31], "accuracy/probe": [0.39]}),
        ],
    ),
    "no-better-than-untrained": (
        [
            run_of(server={"accuracy/merged": [0.31], "accuracy/merged/common": [0.3]}, tested=100),  # ± 2 · .046
            table(row("a"), row("sums", 0.02, method__name="statistics")),
            table(row("a", 0.02, noise=0.03), row("sums", server__predict="common")),  # + 2 ± 1.7 points
        ],
        [
            run_of(server={"accuracy/merged": [0.4], "accuracy/merged/common": [0.3]}, tested=100),
            run_of(
                server={"accuracy/merged": [0.3], "accuracy/merged/common": [0.3]},
                tested=100,
                settings={"method.name": "statistics"},
            ),
            table(row("a", 0.02), row("sums", method__name="statistics")),
        ],
    ),
    "peak-then-collapse": ([run_of(server={"accuracy/merged": DOWN})], [run_of(server={"accuracy/merged": UP})]),
    "noop-schedule": (
        [run_of({"schedule": [1.0] * 3}, scheduled=True)],
        [run_of({"schedule": [1.0] * 3}, scheduled=False), run_of({"schedule": COSINE}, scheduled=True)],
    ),
    "wasted-stage": ([stage(0.119)], [stage(0.121)]),  # 1.2/10
    "forgetting-signal": ([staged(0.81)], [staged(0.79)]),
    "gradient-conflict": (
        [run_of({"grad/cosine": [-0.2] * 6 + [0.1] * 4})],
        [run_of({"grad/cosine": [-0.2] * 5 + [0.1] * 5}), run_of({"grad/cosine": [-0.09] * 10})],
    ),
    "dead-term": (
        [
            run_of({"grad/norm/pf": [0.0] * 3, "loss/pf": [1.0, 1.1, 1.2]}),
            run_of({"loss/pf": [1.5] * 3}),
            run_of({"loss/pf": [0.0] * 3}),
            run_of({"grad/unreached/gate": [1.0] * 3, "grad/norm": [0.1] * 3}),
        ],
        [
            run_of({"grad/norm/pf": {0: [0.0] * 3, 1: [0.1] * 3}}),
            run_of({"grad/unreached/head": [1.0] * 3, "grad/norm": [0.1] * 4}),  # a stage reached it later
            run_of({"grad/unreached/head": [1.0] * 3, "grad/norm": [0.1] * 3}, steps=4),  # or may reach it yet
            run_of({"loss/pf": [1.5, 1.5]}),
        ],
    ),
    "starved-branch": (
        [
            run_of({"branch/visual/grad": [0.009] * 4, "branch/visual/move": [0.09] * 4}),
            run_of({"branch/visual/grad": [1.0] * 4, "branch/visual/share": [0.099] * 4}),
        ],
        [
            run_of({"branch/visual/grad": [0.009] * 4, "branch/visual/move": [0.11] * 4}),
            run_of({"branch/visual/grad": [0.011] * 4, "branch/visual/share": [0.101] * 4}),
            run_of({"branch/visual/grad": [1.0] * 3, "branch/visual/share": [0.01] * 3}),  # two checkpoints after ¼·3
        ],
    ),
    "router-collapse": (
        [
            run_of({"router/0": [0.91] * 4, "router/1": [0.09] * 4}),
            run_of({"router/0": [0.5] * 4, "router/1": [0.5] * 4, "router/0/deviation": [0.009] * 4}),
        ],
        [
            run_of({"router/0": [0.89] * 4, "router/1": [0.11] * 4, "router/0/deviation": [0.011] * 4}),
            run_of({"router/0": [1.0] * 4}),  # there is no other
            run_of({"router/0": [0.99] * 3, "router/1": [0.01] * 3}),  # two checkpoints after ¼·3
        ],
    ),
    "temperature-inversion": (
        [run_of({"surprise/loss_corr": {k: [-0.3 - 0.01 * k] for k in range(4)}})],
        [
            run_of({"surprise/loss_corr": {k: [0.3 + 0.01 * k] for k in range(4)}}),
            run_of({"surprise/loss_corr": {0: [-0.5], 1: [0.4], 2: [-0.4], 3: [0.4]}}),  # noise about zero
        ],
    ),
    "weights-inert": (
        [run_of({"weights/variance": [0.0] * 3}), run_of({"weights/ess": [0.9995] * 3})],
        [run_of({"weights/variance": [0.01] * 3, "weights/ess": [0.99] * 3})],
    ),
    "surprise-saturated": (
        [run_of({"surprise/band": [0.09]}), run_of({"surprise/deviation": [0.025]})],  # 3.92·.025 = .098
        [run_of({"surprise/band": [0.11]}), run_of({"surprise/deviation": [0.026]})],
    ),
    "contrastive-at-chance": (
        [run_of({"loss/align": [math.log(64) * 0.985] * 4}, contrast_batch=64)],
        [run_of({"loss/align": [math.log(64) * 0.975] * 4}, contrast_batch=64)],
    ),
    "features-missing": (
        [run_of(features=[{**FEATURES, "control": "noise"}])],
        [run_of(features=[{**FEATURES, "control": "as-given"}])],
    ),
    "interest-drift": (
        [run_of({"drift": [0, 0, 1]}), run_of({"surprise/next": [5.0, 5.1, 4.9, 5.4]})],  # 5 + 3·.1 = 5.3
        [run_of({"drift": [0, 0, 0]}), run_of({"surprise/next": [5.0, 5.1, 4.9, 5.2]})],
    ),
    "memory-leak": (
        [run_of({**MEMORY, "memory/p_positive/test": [0.02]})],
        [
            run_of({**MEMORY, "memory/p_positive/test": [0.5]}),  # users do return to what they had
            run_of({"memory/p_positive": [0.02], "memory/p_negative": [0.01]}),
        ],
    ),
    "memory-inert": (
        [
            run_of({"memory/effect": [1e-7]}),
            run_of({"memory/write_rate": [0.96]}),
            run_of({"memory/write_rate": [0.005]}),
        ],
        [run_of({"memory/effect": [1e-3]}), run_of({"memory/write_rate": [0.94]})],
    ),
    "chance-level": (
        [
            run_of(server={"accuracy/merged": [0.105]}, classes=10, tested=10_000),  # .1 + 2·.003
            run_of(server={"accuracy/merged": [0.4, 0.104]}, classes=10),  # nobody says how many were tested
            run_of(server={"accuracy/merged": [0.4, 0.104], **{f"recall/{c}": [0.1] for c in range(10)}}),
            run_of({"loss/base": [1.0, math.nan, math.nan]}, {"accuracy/merged": [0.4, 0.1, 0.1]}),
            run_of({"loss/base": [1.0]}, {"accuracy/merged": [0.4, 0.2, 0.2]}),  # cells that are missing
        ],
        [
            run_of(server={"accuracy/merged": [0.107]}, classes=10, tested=10_000),
            run_of(server={"accuracy/merged": [0.4, 0.106]}, classes=10),
            run_of({"loss/base": [1.0, 1.0, 1.0]}, {"accuracy/merged": [0.4, 0.1, 0.1]}),  # it may be what was learnt
            run_of({"loss/base": [1.0, math.nan, math.nan]}, {"accuracy/merged": [0.4, 0.29, 0.29]}),
        ],
    ),
    "too-good": ([run_of(server={"hr@10/uni100": [0.96]})], [run_of(server={"hr@10/uni100": [0.94]})]),
    "non-finite": (
        [run_of({"loss/base": [1.0, math.nan]}), replace(run_of({"loss/base": [1.0]}), events=STOPPED)],
        [run_of({"loss/base": [1.0, 1e300]})],
    ),
    "empty-client": (
        [
            run_of({"steps": {0: [5.0], 1: [0.0]}}),
            run_of({"samples": {0: [600.0], 1: [500.0]}}, batch=512, drop_last=True),
        ],
        [run_of({"steps": {0: [5.0], 1: [1.0]}}), run_of({"samples": {0: [500.0]}}, batch=512, drop_last=False)],
    ),
    "machine-lost": (
        [
            replace(run_of({"seconds": [1.0, 1.0]}, machines=True), events=[machine_lost(1)]),
            replace(run_of({"seconds": [1.0]}, machines=True), events=[BY_QUORUM]),
        ],
        [replace(run_of({"seconds": [1.0]}, machines=True), events=[machine_lost(None)])],  # it was not at work
    ),
    "version-mismatch": (
        [replace(run_of(machines=True), events=[OTHER_VERSION])],
        [replace(run_of(machines=True), events=[OTHER_VERSION, JOINED])],
    ),
    "partition-overlap": (
        [run_of(owned=79_992, samples=50_000), run_of(overlap=0.535)],
        [run_of(owned=50_000, samples=50_000), run_of(overlap=0.0)],
    ),
    "partition-not-as-asked": (
        [
            run_of(alpha=0.05, labels=EVEN),
            run_of({"accuracy/train": [0.80]}, {"accuracy/clients": [0.78]}, alpha=0.05),
        ],
        [
            run_of(alpha=100.0, labels=EVEN + np.arange(50).reshape(5, 10)),
            run_of({"accuracy/train": [0.99]}, {"accuracy/clients": [0.21]}, alpha=0.05),
        ],
    ),
    "etf-infeasible": (
        [run_of(classes=100, width=98, anchors="etf")],
        [run_of(classes=100, width=99, anchors="etf"), run_of(classes=100, width=98, anchors="random")],
    ),
    "transform-mismatch": (
        [
            run_of({**INPUT, "input/mean/eval": [0.51]}),
            run_of({**INPUT, "input/mean/eval": [0.0], "input/std/train": [1.6]}),
        ],
        [run_of({**INPUT, "input/mean/eval": [0.49]})],
    ),
    "batchnorm-not-merged": (
        [
            run_of({"hash/buffers": {0: [7.0], 1: [8.0]}}, {"hash/buffers": [8.0]}),
            run_of(server={"accuracy/recalibrated": [0.36], "accuracy/merged": [0.30]}),
        ],
        [
            run_of({"hash/buffers": {0: [7.0], 1: [8.0]}}, {"hash/buffers": [9.0]}),
            run_of({"hash/buffers": {0: [7.0], 1: [7.0]}}, {"hash/buffers": [7.0]}),
            run_of(server={"accuracy/recalibrated": [0.34], "accuracy/merged": [0.30]}),
        ],
    ),
    "stale-evaluation": (
        [
            run_of(
                {"update/norm": [1.0] * 4},
                {"accuracy/merged": [0.1, 0.3, 0.3, 0.3], "loss/merged": [2.0, 1.0, 1.0, 1.0]},
            )
        ],
        [
            run_of({"update/norm": [1.0] * 4}, {"accuracy/merged": [0.3] * 4, "loss/merged": [2.0, 1.9, 1.8, 1.7]}),
            run_of({"update/norm": [0.0] * 4}, {"accuracy/merged": [0.3] * 4, "loss/merged": [2.0] * 4}),
        ],
    ),
    "frozen-drift": (
        [
            run_of({"hash/frozen": [5.0, 5.0, 6.0]}),
            run_of({"hash/frozen/start": [5.0, 6.0], "hash/frozen": [5.0, 7.0]}),
        ],
        [run_of({"hash/frozen": [5.0, 5.0]}), run_of({"hash/frozen/start": [5.0, 6.0], "hash/frozen": [5.0, 6.0]})],
    ),
    "hidden-broadcast": (
        [run_of({"hash/start": [1.0, 9.0], "hash/end": [2.0, 3.0]}, communication="one-shot")],
        [
            run_of({"hash/start": [1.0, 2.0], "hash/end": [2.0, 3.0]}, communication="one-shot"),
            run_of({"hash/start": [1.0, 9.0], "hash/end": [2.0, 3.0]}, communication="rounds"),
        ],
    ),
    "client-outlier": (
        [run_of({"update/norm": {**MANY, 9: [50.0] * 4}}), run_of({"update/cosine": {**MANY, 9: [-0.3] * 4}})],
        [
            run_of({"update/norm": {**MANY, 9: [50.0, 1.0, 1.0, 1.0]}}),  # once
            run_of({"update/norm": {**MANY, 9: [50.0] * 4}, "steps": {**MANY, 9: [40.0] * 4}}),  # more steps, no more
            run_of({"update/norm": {**MANY, 9: [50.0]}}),  # in the one checkpoint of four that it took part in
            run_of({"update/norm": {k: [1.0 + 0.001 * k] * 4 for k in range(6)} | {6: [1.5] * 4}}),  # far, not large
            run_of({"update/cosine": {**MANY, 9: [-0.1] * 4}}),
        ],
    ),
    "class-blind": (
        [run_of(server={"recall/0": [0.5], "recall/1": [0.0]}, labels=[[5, 5]])],
        [
            run_of(server={"recall/0": [0.5], "recall/1": [0.0]}, labels=[[5, 0]]),  # nobody has it
            run_of(server={"recall/0": [0.5], "recall/1": [0.01]}),
        ],
    ),
    "test-selection": ([run_of(selected_by="accuracy/test")], [run_of(selected_by="accuracy/validation")]),
    "inactive-knob": (
        [table(row("a"), row("b", client__lr=0.1))],
        [
            table(row("a"), row("b", by=1e-9, client__lr=0.1)),
            table(row("a"), row("b", client__lr=0.1, client__clip=1.0)),  # two options
        ],
    ),
    "confounded": (
        [
            table(row("a"), row("b", by=0.1, client__lr=0.1, client__clip=1.0)),
            # `ours`: another λ, start, logits and server at once, beside rows that differ in λ alone
            table(
                row("FedAvg", method__name="fedavg"),
                row("constant", balance__name="constant", balance__lam=5.0),
                row("entropy", balance__name="entropy", balance__lam_min=0.1, balance__schedule="none"),
                row("ours", 0.5, balance__name="equilibrium", method__start="anchor", server__predict="common-gate"),
            ),
        ],
        [
            table(row("a"), row("b", by=0.1, client__lr=0.1)),
            table(row("a"), row("b", balance__name="entropy", balance__lam_min=0.1, balance__schedule="none")),
            table(row("a"), row("b", by=0.1, client__lr=0.1, client__clip=1.0), row("c", by=0.1, client__lr=0.1)),
            table(row("a"), row("b", by=0.1, client__lr=0.1, method__name="fedavg")),  # another method
        ],
    ),
    "noise-not-gain": (
        [table(row("a"), row("b", by=0.01, noise=0.05, client__lr=0.1))],
        [
            table(row("a"), row("b", by=0.10, noise=0.01, client__lr=0.1)),
            table(row("a"), row("b", by=-0.05, noise=0.05, client__lr=0.1)),  # no gain to doubt
        ],
    ),
    "uncontrolled-gain": (
        [
            table(row("ids"), row("both", by=0.05, **EXPERTS)),
            table(row("ids"), row("both", by=0.05, **EXPERTS), row("shuffled", by=0.03, **SHUFFLED)),  # 60 % is left
        ],
        [
            table(row("ids"), row("both", by=0.05, **EXPERTS), row("shuffled", by=0.02, **SHUFFLED)),
            table(row("ids"), row("both", by=-0.05, **EXPERTS)),
        ],
    ),
    "unequal-budget": (
        [table(row("a"), row("b", rounds=20)), table(row("a"), row("b", data__limit=100))],
        [
            table(row("a"), row("b", by=0.1, rounds=20, server__fraction=0.5)),
            table(row("a"), row("b", client__lr=0.1)),
            table(row("a"), row("b", method__name="centralised", server__fraction=0.05)),  # its one client always does
        ],
    ),
    "mixed-protocol": (
        [
            table(row("a"), row("b", data__test_limit=100)),
            table(row("a"), row("b", metric="accuracy/clients")),
            table(row("a"), row("b", server__predict="statistics-exchange")),
        ],
        [table(row("a"), row("b", client__lr=0.1)), table(row("a"), row("b", server__predict="energy-gate"))],
    ),
    "slow-client": (
        [run_of({"seconds": {0: [1.0] * 3, 1: [1.1] * 3, 2: [3.5] * 3}})],
        [run_of({"seconds": {0: [1.0] * 3, 1: [1.1] * 3, 2: [3.5, 1.0, 1.0]}})],
    ),
}


@pytest.mark.parametrize("code", RULES.names())
def test_a_rule_fires_beyond_its_limit_and_not_before(code: str) -> None:
    fires, silent = CASES[code]
    for number, run in enumerate(fires):
        assert found(run, code) is not None, f"{code}: case {number} should fire"
    for number, run in enumerate(silent):
        assert found(run, code) is None, f"{code}: case {number} should be silent"


def test_every_case_is_of_a_rule() -> None:
    assert set(CASES) == set(RULES.names())


def test_a_term_that_has_nothing_left_to_ask_for_is_a_note() -> None:
    finding = found(run_of({"loss/pp": [0.0] * 3}), "dead-term")
    assert finding is not None
    assert finding.severity == "note"


def test_overlap_that_was_asked_for_is_a_note() -> None:
    finding = found(run_of(overlap=0.5, overlap_asked=True), "partition-overlap")
    assert finding is not None
    assert finding.severity == "note"


def test_features_are_graded_by_what_was_asked_for() -> None:
    for control, severity in (("shuffled", "note"), ("unproven", "warning"), ("noise", "error")):
        finding = found(run_of(features=[{**FEATURES, "control": control}]), "features-missing")
        assert finding is not None
        assert finding.severity == severity


def test_sigma_alone_is_judged_with_the_condition_said() -> None:
    finding = found(run_of({"sigma2/base": [4.0] * 10}), "lr-cut")
    assert finding is not None
    assert finding.saw.startswith("if the loss is coupled")


def test_another_partition_under_the_same_seeds_is_another_protocol() -> None:
    other = replace(row("b"), partitions=frozenset({"xyz"}))
    finding = found(table(row("a"), other), "mixed-protocol")
    assert finding is not None
    assert finding.rows == ["b"]
    assert "the partition" in finding.saw


def test_the_p_value_of_a_partition_is_uniform_where_it_was_drawn_as_asked() -> None:
    from equipoise.diagnose.rules.partition_not_as_asked import p_value

    rng = np.random.default_rng(5)
    drawn = [np.round(1000 * rng.dirichlet([0.3] * 5, size=10).T) for _ in range(60)]
    values = np.array([p_value(counts, 0.3) for counts in drawn])
    assert values.min() > 0.001
    assert 0.3 < values.mean() < 0.7


@pytest.mark.parametrize("event", NO_FEATURES, ids=lambda event: event.kind)
def test_features_that_are_not_finite_are_not_blamed_on_a_step(event):
    finding = found(replace(run_of({"loss/base": [1.0]}), events=[event]), "non-finite")
    assert finding is not None
    assert "the encoder gives features that are not finite" in finding.saw
    assert finding.remedy.startswith("look at the samples for which the encoder gives such features")
    step = found(replace(run_of({"loss/base": [1.0]}), events=STOPPED), "non-finite")
    assert step is not None
    assert "clip" in step.remedy
