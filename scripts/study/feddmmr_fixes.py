"""Report 5: a gate of 0.1 and a temperature that grows with surprise, and the two fixes, one by one."""

from __future__ import annotations

from statistics import fmean

from scripts.study.page import Claim, claims, table
from scripts.study.read import Study, spread
from scripts.study.recommendation import gain

TITLE = "The fixes of the fifth report: MovieLens-1M, the 1000 most active users"
SHOWN = ("hr@10/uni100", "hr@10/full", "ndcg@10/full")
CLIENTS = ("router/visual", "weights/variance", "surprise/loss_corr")
REPORTED = {
    "before": ".47 measured",
    "fix 1, no gate": ".55–.58 hoped",
    "both fixes": ".58–.62 hoped",
    "ids alone": ".60 measured",
}
"""HR@10 among 101 candidates in the report."""
PAIRS = (
    ("fix 1, no gate", "before"),
    ("fix 2, weights per sample", "before"),
    ("both fixes", "before"),
    ("ours, O from zero", "ids alone"),
)


def parts(study: Study) -> list[str]:
    rows = [
        [
            study.named(label),
            REPORTED.get(label, "–"),
            *(spread(study.server(label, name)) for name in SHOWN),
            *_clients(study, label),
        ]
        for label in study.labels
    ]
    return [
        "On test; the report's figure beside ours. Of clients, in the last round: the weight of the visual expert, the "
        "variance of sample weights, and how their pull follows surprise.",
        table(["", "report", *SHOWN, *CLIENTS], rows),
        "Differences between two rows with the same seeds, mean and range over seeds; in brackets, for HR, the 95 % "
        "bootstrap interval over users of what each gains on average over seeds.",
        table(["", *SHOWN], [[f"{a} − {b}", *(gain(study, a, b, name) for name in SHOWN)] for a, b in _pairs(study)]),
        claims(_claims(study)),
    ]


def _pairs(study: Study) -> list[tuple[str, str]]:
    return [pair for pair in PAIRS if study.common(*pair)]


def _clients(study: Study, label: str) -> list[str]:
    found = []
    for name in CLIENTS:
        values = [study.at(label, s, name, k) for s in study.seeds for k in study.clients(label, s, name)]
        found.append(f"{fmean(values):.3g}" if values else "–")
    return found


def _claims(study: Study) -> list[Claim]:
    name, found = SHOWN[0], []
    for better, worse in _pairs(study):
        seeds = study.common(better, worse)
        ours, theirs = (fmean(study.at(label, seed, name, None) for seed in seeds) for label in (better, worse))
        told = f"{ours:.3f} against {theirs:.3f}, seed {', '.join(map(str, seeds))}"
        found.append(Claim(f"{better} is above {worse} ({name})", told, ours > theirs))
    return found
