"""Time Equipoise, a plain loop and other simulators by turns: `make bench-rivals`.

python -m scripts.rivals [cohort] [tiny] [--repeats 5] [--output runs/bench.jsonl] [--json]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from scripts.rivals.simulators import GOALS, installed

from equipoise.bench.measure import BenchmarkResult
from equipoise.bench.race import race
from equipoise.cli.bench import keep, table
from equipoise.cli.options import print_json


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.rivals", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{' or '.join(GOALS)}; all unless given")
    parser.add_argument("--repeats", type=int, default=5, help="times each side is measured, by turns")
    parser.add_argument("--output", "-o", type=Path, default=Path("runs/bench.jsonl"), help="where results are added")
    parser.add_argument("--json", action="store_true", help="print results as JSON")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in GOALS]:
        parser.error(f"no such comparison: {', '.join(unknown)}; there are {', '.join(GOALS)}")
    found = []
    for name in given.names or GOALS:
        for result in compared(name, given.repeats):
            found.append(result.to_json())
            keep(given.output, found[-1])
    if given.json:
        print_json(found)
    else:
        print(table(found))


def compared(name: str, repeats: int) -> Iterator[BenchmarkResult]:
    """The results of one benchmark. What is not installed is named in their notes and on stderr."""
    for contest in import_module(f"equipoise.bench.{name}").contests():
        with installed(contest.job) as others:
            missing = [kind for kind in GOALS[name] if not any(other.startswith(kind) for other in others)]
            note = f"; not installed, so not timed: {', '.join(missing)} (make bench-rivals)" if missing else ""
            if missing:
                print(f"{contest.name}{note}", file=sys.stderr)
            for result in race(contest, repeats, others, GOALS[name]):
                yield replace(result, note=result.note + note)


if __name__ == "__main__":
    main()
