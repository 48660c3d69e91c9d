"""Train the study and write docs/results: `make study`, resumable; or the pages alone from a store that has it.

python -m scripts.study [--scale small] [--only NAME …] [--seeds 1] [--store DB] [--pages-only] [--commit HASH]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from types import ModuleType

from scripts.study import (
    drift,
    feddmmr_fixes,
    ours,
    page,
    read,
    recommendation,
    svhn_explosion,
    two_stage,
    why_v10_fails,
    why_v11_fails,
)

from equipoise.store.database import open_existing

VISION: dict[str, ModuleType] = {
    "why-v10-fails": why_v10_fails,
    "why-v11-fails": why_v11_fails,
    "svhn-explosion": svhn_explosion,
    "two-stage": two_stage,
    "ours": ours,
}
RECOMMENDATION: dict[str, ModuleType] = {
    "recommendation": recommendation,
    "feddmmr-fixes": feddmmr_fixes,
    "drift": drift,
}
PAGES = VISION | RECOMMENDATION


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.study", description=__doc__)
    parser.add_argument("--scale", default="small")
    parser.add_argument("--only", nargs="*", choices=list(PAGES), default=list(VISION))
    parser.add_argument("--store", default="runs/study.db")
    parser.add_argument("--pages-only", action="store_true", help="train nothing")
    parser.add_argument("--seeds", help="how many seeds to train now, or which (0,2); all unless given")
    parser.add_argument("--commit", default=_commit(), help="what the runs were made by")
    given = parser.parse_args()
    for name in given.only:
        sweeps = [f"{one} scale={given.scale}" for one in getattr(PAGES[name], "SWEEPS", [f"studies/{name}"])]
        for sweep in [] if given.pages_only else sweeps:
            command = [
                "sweep",
                *sweep.split(),
                "--store",
                given.store,
                *(["--seeds", given.seeds] if given.seeds else []),
            ]
            subprocess.run([sys.executable, "-m", "equipoise", *command], check=True)
        with open_existing(given.store) as store:
            study = read.load(store, *sweeps)
            parts = [_made_by(" and ".join(sweeps), study, given.commit), *PAGES[name].parts(study)]
            print(f"wrote {page.write(name, PAGES[name].TITLE, parts)}")


def _made_by(sweep: str, study: read.Study, commit: str) -> str:
    seeds = ", ".join(str(seed) for seed in study.seeds)
    return (
        f"Made by `equipoise sweep {sweep}` at commit {commit}, seeds {seeds}, one thread a run, "
        f"{os.cpu_count()} cores, {platform.machine()}. Accuracies are in percent on test, mean ± deviation over "
        "seeds; λ, losses and gradients are means over the steps of a checkpoint unless called last."
    )


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
