"""Classes that the merged model never predicts correctly.

recall = 0 at the end for a class that occurs in training
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "class-blind",
    severity="note",
    when=("end",),
    reads=("recall/*",),
    says="recall is 0 for {n} of {classes}: {which}",
    cause="the clients that own these classes are outvoted",
    remedies=(
        Remedy("merge prototypes per class, by how many samples stand behind them", "server.merge=counts"),
        Remedy(
            "a server that hears who knows the class: of those recorded, {server} is best on validation",
            "server.predict={server}",
        ),
        Remedy("score every server at the end, and take the one that is best on validation", "evaluate.beside=last"),
        Remedy("look at who owns these classes, and let those clients take part more often"),
    ),
)
def class_blind(run: Recording, limit: Limits) -> Iterator[Sign]:
    curves = {name.removeprefix("recall/"): run.server(name) for name in run.names("recall/*")}
    curves = {name: curve for name, curve in curves.items() if len(curve)}
    labels = run.facts.get("labels")
    trained = np.asarray(labels).sum(axis=0) > 0 if labels is not None else None
    blind = [
        name
        for place, (name, curve) in enumerate(curves.items())
        if curve.values[-1] == 0 and (trained is None or not name.isdigit() or trained[int(name)])
    ]
    if blind:
        which = ", ".join(blind[:10]) + (" …" if len(blind) > 10 else "")
        yield Sign(None, [run.last], {"n": len(blind), "classes": len(curves), "which": which})
