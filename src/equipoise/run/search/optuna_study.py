"""What Optuna does in a search: choose the settings of a trial, say which trial is hopeless, weigh the settings.

    settings of trial n = f(ranges, sampler, search seed, n, trials that are over)

Each is asked of a study made anew from what is known, with random numbers of its own stream. So nothing has to be kept
between two questions, and a search that was killed asks the same again.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from equipoise.core.errors import MissingExtra
from equipoise.core.streams import stream_seed
from equipoise.run.search.plan import SearchPlan
from equipoise.run.search.space import SearchAxis, SearchChoice, Settings
from equipoise.store.searches import TrialState

if TYPE_CHECKING:
    import optuna

ENOUGH = 4
"""Finished trials from which the weight of settings is estimated."""


@dataclass(frozen=True)
class Outcome:
    """A trial as the sampler sees it; one that is not over has settings only."""

    settings: Settings
    state: TrialState = "running"
    score: float | None = None
    curve: Mapping[int, float] = field(default_factory=dict)
    """Validation over the checkpoints of all its runs, one run after another."""


def require_optuna() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        what = f"--search optuna needs a library that is not installed ({error.name})"
        raise MissingExtra(what, where="--search", fix="pip install 'equipoise[search]'") from error


def suggested(plan: SearchPlan, known: Sequence[Outcome]) -> Settings:
    """The settings of trial number len(known)."""
    import optuna

    seed = stream_seed(plan.way.search_seed, "search", len(known)) % 2**32
    samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    with _quiet():
        study = optuna.create_study(direction="maximize", sampler=samplers[plan.way.sampler](seed=seed))
        study.add_trials(_frozen(plan, known))
        drawn = study.ask(_distributions(plan)).params
    return {key: _value(axis, drawn[key]) for key, axis in plan.space.items()}


def is_hopeless(rivals: Sequence[Mapping[int, float]], curve: Mapping[int, float]) -> bool:
    """Whether the best of a curve so far is below the median of its rivals at its last checkpoint; never with fewer
    rivals than Optuna's median pruner begins with, which is five."""
    import optuna

    state = optuna.trial.TrialState
    with _quiet():
        study = optuna.create_study(direction="maximize", pruner=optuna.pruners.MedianPruner())
        for rival in rivals:
            last = rival[max(rival)] if rival else 0.0
            study.add_trial(
                optuna.trial.create_trial(state=state.COMPLETE, value=last, intermediate_values=dict(rival))
            )
        study.add_trial(optuna.trial.create_trial(state=state.RUNNING, intermediate_values=dict(curve)))
        return bool(study.pruner.prune(study, study.get_trials(deepcopy=False)[-1]))


def importance(plan: SearchPlan, known: Sequence[Outcome]) -> dict[str, float]:
    """The share of each setting in how the scores of finished trials differ (fANOVA); empty if they are too few, or
    all equal."""
    import optuna

    done = [each for each in known if each.state == "done" and each.score is not None]
    if len(done) < ENOUGH or len({each.score for each in done}) == 1:
        return {}
    with _quiet():
        study = optuna.create_study(direction="maximize")
        study.add_trials(_frozen(plan, done))
        weighs = optuna.importance.FanovaImportanceEvaluator(seed=plan.way.search_seed)
        try:
            found = optuna.importance.get_param_importances(study, evaluator=weighs)
        except RuntimeError:  # no tree of its forest splits: nothing distinguishes the trials
            return {}
    return {key: float(share) for key, share in found.items() if math.isfinite(share)}


def _frozen(plan: SearchPlan, known: Sequence[Outcome]) -> list[optuna.trial.FrozenTrial]:
    import optuna

    distributions = _distributions(plan)
    states = optuna.trial.TrialState
    state = {
        "running": states.RUNNING,
        "done": states.COMPLETE,
        "pruned": states.PRUNED,
        "failed": states.PRUNED,  # without a curve: worse than any other
    }
    return [
        optuna.trial.create_trial(
            state=state[each.state],
            params={
                key: _parameter(plan.space[key], distributions[key], value) for key, value in each.settings.items()
            },
            distributions=distributions,
            value=each.score if each.state == "done" else None,
            intermediate_values=dict(each.curve) if each.state in {"done", "pruned"} else {},
        )
        for each in known
    ]


def _distributions(plan: SearchPlan) -> dict[str, optuna.distributions.BaseDistribution]:
    return {key: _distribution(axis) for key, axis in plan.space.items()}


def _distribution(axis: SearchAxis) -> optuna.distributions.BaseDistribution:
    from optuna import distributions

    if isinstance(axis, SearchChoice):
        return distributions.CategoricalDistribution(tuple(range(len(axis.values))))
    if axis.is_whole:
        return distributions.IntDistribution(int(axis.low), int(axis.high), axis.log, int(axis.step or 1))
    return distributions.FloatDistribution(axis.low, axis.high, axis.log, axis.step)


def _value(axis: SearchAxis, drawn: Any) -> Any:
    return axis.values[drawn] if isinstance(axis, SearchChoice) else axis.rounded(drawn)


def _parameter(axis: SearchAxis, distribution: optuna.distributions.BaseDistribution, value: Any) -> Any:
    """The setting as Optuna knows it; rounding may have led past the last step, which Optuna makes the end."""
    if isinstance(axis, SearchChoice):
        return axis.values.index(value)
    return min(value, getattr(distribution, "high", value))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Optuna's log, and without its notes on ranges whose end is not a whole number of steps away."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The distribution is specified by", category=UserWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)
