"""The trials of a search as rows of text; the chosen one has a star, and it alone has a figure on test."""

from __future__ import annotations

from collections import Counter

from equipoise.report.search import SearchResult
from equipoise.report.words import Say
from equipoise.store.searches import TrialRecord, settings_text, value_text

NOTHING = "–"


def header(result: SearchResult, say: Say) -> list[str]:
    return [say("trial"), *short(result.keys), say("validation_score"), say("test"), say("state"), say("seconds")]


def short(keys: list[str]) -> list[str]:
    """The last part of each key, unless two would be equal.

    >>> short(["client.lr", "balance.name"]), short(["client.lr", "server.lr"])
    (['lr', 'balance'], ['client.lr', 'server.lr'])
    """
    whole = [key.removesuffix(".name") for key in keys]
    last = [key.rpartition(".")[2] for key in whole]
    counted = Counter(last)
    return [name if counted[name] == 1 else key for key, name in zip(whole, last, strict=True)]


def rows(result: SearchResult, say: Say) -> list[list[str]]:
    return [_row(result, trial, say) for trial in result.trials]


def share(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.2f} %"


def chosen(result: SearchResult, say: Say) -> str:
    """The chosen trial in a sentence."""
    best = result.best
    if best is None:
        return say("search_none")
    figures = {"validation": share(best.score), "test": share(result.test)}
    return say("search_chosen", trial=best.number, settings=settings_text(best.settings), **figures)


def _row(result: SearchResult, trial: TrialRecord, say: Say) -> list[str]:
    is_best = trial == result.best
    settings = [value_text(trial.settings[key]) for key in result.keys]
    test = share(result.test) if is_best else NOTHING
    mark = " *" if is_best else ""
    return [f"{trial.number}{mark}", *settings, share(trial.score), test, say(trial.state), f"{trial.seconds:.1f}"]
