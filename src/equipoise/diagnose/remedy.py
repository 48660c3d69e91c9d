"""Chooses the advice of a finding, and checks it against the run's own settings first.

    advice = the first remedy of the rule whose settings the run's configuration allows and does not have already

Placeholders of a remedy: {run} is the run's name; {server} is the recorded predictor with the highest validation
accuracy, if that is higher than the run's own; {lr} is a tenth of the learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.config.check import check
from equipoise.config.layers import layered
from equipoise.config.loader import flat_overrides, nested
from equipoise.core.errors import ConfigError
from equipoise.core.exchanges import needs_second_exchange
from equipoise.diagnose.recording import Recording

VALIDATION = "accuracy/validation"
UNTRAINED = "common"
"""The control that hears no trained client; never advised."""


def always(run: Recording) -> bool:
    return True


def is_one_shot(run: Recording) -> bool:
    """Whether the run is one-shot, so that the clients' own models were kept."""
    return bool(run.facts.get("communication") == "one-shot")


@dataclass(frozen=True)
class Remedy:
    """A sentence, and the settings to append to `equipoise run …`; empty if no setting helps."""

    text: str
    settings: str = ""
    fits: Callable[[Recording], bool] = always


def chosen(remedies: Sequence[Remedy], texts: Sequence[str], run: Recording) -> Remedy:
    """The first remedy that fits this run, worded by `texts`; otherwise the last one that asks for no setting."""
    values = places(run)
    for remedy, text in zip(remedies, texts, strict=True):
        wanted = [key for key in values if f"{{{key}}}" in remedy.text + remedy.settings]
        if not remedy.fits(run) or any(values[key] is None for key in wanted):
            continue
        settings = _missing(_filled(remedy.settings, values), run.facts.get("settings", {}))
        if is_allowed(settings.split(), run.facts.get("settings", {})) and (settings or not remedy.settings):
            return Remedy(_filled(text, values), settings)
    plain = [text for remedy, text in zip(remedies, texts, strict=True) if not remedy.settings]
    return Remedy(_filled((plain or texts)[-1], values))


def is_allowed(words: Iterable[str], settings: Mapping[str, Any]) -> bool:
    """Whether a run with these settings accepts those overrides; True if its settings are unknown."""
    if not settings:
        return True
    try:
        check(nested(layered(dict(settings), flat_overrides(words))))
    except ConfigError:
        return False
    return True


def places(run: Recording) -> dict[str, str | None]:
    lr = run.facts.get("settings", {}).get("client.lr")
    return {"run": run.name, "server": better_server(run), "lr": None if lr is None else f"{lr / 10:g}"}


def better_server(run: Recording) -> str | None:
    """The recorded predictor with the highest validation accuracy, if that is above the run's own.

    Predictors with a second exchange would change the protocol, and the untrained control uses no client; both are
    left out.
    """
    own = run.server(VALIDATION)
    recorded = {name.removeprefix(f"{VALIDATION}/") for name in run.names(f"{VALIDATION}/*")} - {UNTRAINED}
    names = {name for name in recorded if not needs_second_exchange(name)}
    found = {name: float(run.server(f"{VALIDATION}/{name}").values[-1]) for name in sorted(names)}
    best = max(found, key=lambda name: found[name], default=None)
    return best if best is not None and len(own) and found[best] > own.values[-1] else None


def _missing(settings: str, own: Mapping[str, Any]) -> str:
    """The overrides that the run does not have already."""
    given = {word: flat_overrides([word]) for word in settings.split()}
    return " ".join(
        word for word, flat in given.items() if not own or any(own.get(key) != v for key, v in flat.items())
    )


def _filled(text: str, values: Mapping[str, str | None]) -> str:
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", str(value))
    return text
